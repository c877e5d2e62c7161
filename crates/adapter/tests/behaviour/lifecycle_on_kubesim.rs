//! The lifecycle on kubesim.

use crate::examples::{self, for_all_examples};
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

macro_rules! tests_of_examples {
    ($($name:ident),+ $(,)?) => {
        $(#[tokio::test]
        async fn $name() {
            examples::$name(World::start().await).await;
        })+
    };
}

for_all_promises!(tests);
for_all_examples!(tests_of_examples);
