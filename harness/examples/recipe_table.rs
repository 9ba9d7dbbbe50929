//! Prints the README's table of recipes: `cargo run -p fencepost --example recipe_table`.

fn main() {
    print!("{}", harness::recipe_table::markdown());
}
