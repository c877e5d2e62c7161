mod plans;
mod projection;
mod walk;
