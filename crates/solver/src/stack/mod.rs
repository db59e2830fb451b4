//! The stack of a solver at the moment of a fatal signal: where a crash happened.
//!
//! The launcher holds a process at the signal (`launch/trace.rs`) and reads its stack here: frame by frame with the unwind
//! tables that every executable carries for its exceptions, so that neither debug information nor frame pointers are
//! needed. Functions are called by the names in the symbol tables; those of a stripped executable by the address at which
//! they begin, which is the same in every run of the same file.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `process.rs` | memory and mappings of the process |
//! | `image.rs` | its executable files: unwind tables and symbols |
//! | `unwind.rs` | from one frame to its caller |
//! | `place.rs` | which frames say where: those of the solver, a recursion once |
//! | `names.rs` | functions' names as people write them |

mod image;
mod names;
mod place;
mod process;
mod unwind;

use serde::{Deserialize, Serialize};

pub use names::is_telling;
pub(crate) use names::{
    is_entry, is_machinery, is_plumbing, is_runtime, plain_function, readable, unqualified,
};
pub(crate) use place::CrashPlace;
pub(crate) use unwind::{Registers, read};

/// Frames of a process as they were found, innermost first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The stack had no room left.
    pub overflow: bool,
    pub frames: Vec<Frame>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The executable file, without its folder.
    pub module: String,
    /// As the linker knows it; the address at which it begins, such as `+0x1a2b`, where it has no name.
    pub function: String,
    /// The kernel's: what is further in belongs to the handler of a signal.
    pub handler: bool,
}

impl Stack {
    /// Whether it was read inside the handler of an earlier signal.
    pub(crate) fn is_in_handler(&self) -> bool {
        self.frames.iter().any(|frame| frame.handler)
    }
}
