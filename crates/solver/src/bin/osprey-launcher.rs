//! The launcher as a program of its own, for users of the library whose executable does not call
//! [`solver::launch::serve_if_asked`] first in its `main`.

fn main() {
    solver::launch::serve_if_asked();
    eprintln!("osprey-launcher starts solvers for osprey; it is not meant to be run by hand");
    std::process::exit(2);
}
