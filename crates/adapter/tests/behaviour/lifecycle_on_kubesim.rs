//! The lifecycle on kubesim.

use crate::lifecycle::{self, for_all_promises};
use crate::world::World;

macro_rules! tests {
    ($($name:ident),+ $(,)?) => {
        $(#[tokio::test]
        async fn $name() {
            lifecycle::$name(World::start().await).await;
        })+
    };
}

for_all_promises!(tests);
