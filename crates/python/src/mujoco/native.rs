//! Functions of MuJoCo's library, called where they lie: what its binding does around each takes as long as a small stage.
//!
//! An error of MuJoCo unwinds through its frames, which are C's, to the call. Callbacks of programs are called by the binding alone, as it
//! knows what becomes of their exceptions: while there are any, a world does not come here.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pyo3::prelude::*;

type Function = unsafe extern "C-unwind" fn(*const c_void, *mut c_void);
type Handler = unsafe extern "C-unwind" fn(*const Message);
type SetHandler = unsafe extern "C-unwind" fn(Option<Handler>) -> Option<Handler>;
type GetHandler = unsafe extern "C-unwind" fn() -> Option<Handler>;
type Clock = unsafe extern "C-unwind" fn() -> f64;

/// The level of an error.
const ERROR: c_int = 3;

/// The beginning of an `mjLogMessage`; `_layout.py` compares it.
#[repr(C)]
struct Message {
    level: c_int,
    topic: c_int,
    subject: [c_char; 1024],
    body: *const c_char,
    func: *const c_char,
}

thread_local! {
    /// Who hears what is no error.
    static LISTENER: Cell<Option<Handler>> = const { Cell::new(None) };
}

/// What MuJoCo has said of an error.
pub struct Failure(pub String);

unsafe extern "C-unwind" fn hear(message: *const Message) {
    // SAFETY: MuJoCo's message lives while this runs, and its strings end.
    let text = unsafe {
        let message = &*message;
        if message.level != ERROR {
            if let Some(listener) = LISTENER.get() {
                listener(message);
            }
            return;
        }
        let subject = CStr::from_ptr(message.subject.as_ptr()).to_string_lossy();
        if message.func.is_null() {
            subject.into_owned()
        } else {
            format!("{}: {subject}", CStr::from_ptr(message.func).to_string_lossy())
        }
    };
    resume_unwind(Box::new(Failure(text)));
}

/// Addresses, as `_Native` in `sapwood/mujoco/_native.py` has them.
#[derive(FromPyObject)]
pub struct Native {
    /// Places, masses and tendons.
    kinematics: usize,
    /// The parts of that without tendons.
    bodies: Vec<usize>,
    /// All else that follows from a state but contact and constraints.
    stages: Vec<usize>,
    actuate: usize,
    make_rows: usize,
    sensors: usize,
    /// Takes over which trees sleep.
    update_sleep: usize,
    set_handler: usize,
    get_handler: usize,
    /// Where the pointer to a program's `mjcb_control` lies, and those to what else it may have set.
    control: usize,
    callbacks: Vec<usize>,
    /// Where the pointer to the clock lies, and which it is without a program's.
    clock: usize,
    default_clock: usize,
}

/// The addresses of an `MjModel` and an `MjData` that are alive.
#[derive(Clone, Copy)]
pub struct Pair(pub usize, pub usize);

/// Which of MuJoCo's functions.
#[derive(Clone, Copy)]
pub enum Part {
    Kinematics,
    Bodies,
    Stages,
    Actuation,
    Rows,
    Sensors,
    Sleep,
}

/// # Safety
/// A pointer lies there.
unsafe fn pointer_at(address: usize) -> usize {
    // SAFETY: as the caller says; another thread may set it.
    unsafe { (address as *const usize).read_volatile() }
}

impl Native {
    /// Whether a program has set `mjcb_control`.
    pub fn is_controlled(&self) -> bool {
        // SAFETY: a variable of the library.
        unsafe { pointer_at(self.control) != 0 }
    }

    /// Whether no stage calls anything of a program.
    pub fn is_alone(&self) -> bool {
        // SAFETY: as above.
        let is_unset = |at: &usize| unsafe { pointer_at(*at) == 0 };
        self.callbacks.iter().all(is_unset) && self.has_default_clock()
    }

    fn has_default_clock(&self) -> bool {
        // SAFETY: as above.
        unsafe { pointer_at(self.clock) == self.default_clock }
    }

    /// What MuJoCo's clock says, ms; none where it is a program's.
    pub fn now(&self) -> Option<f64> {
        if self.default_clock == 0 || !self.has_default_clock() {
            return None;
        }
        // SAFETY: MuJoCo's clock is such a function, which does not fail.
        Some(unsafe { std::mem::transmute::<usize, Clock>(self.default_clock)() })
    }

    /// Calls functions of the library.
    pub fn call(&self, part: Part, Pair(m, d): Pair) -> Result<(), Failure> {
        let functions = match part {
            Part::Kinematics => std::slice::from_ref(&self.kinematics),
            Part::Bodies => &self.bodies[..],
            Part::Stages => &self.stages[..],
            Part::Actuation => std::slice::from_ref(&self.actuate),
            Part::Rows => std::slice::from_ref(&self.make_rows),
            Part::Sensors => std::slice::from_ref(&self.sensors),
            Part::Sleep => std::slice::from_ref(&self.update_sleep),
        };
        // SAFETY: the addresses are those of functions of these types.
        let (set_handler, get_handler) = unsafe {
            (
                std::mem::transmute::<usize, SetHandler>(self.set_handler),
                std::mem::transmute::<usize, GetHandler>(self.get_handler),
            )
        };
        // SAFETY: `hear` may be called at any time in this thread; who was there before comes back.
        let before = unsafe { set_handler(Some(hear)) };
        let listener = LISTENER.replace(before.or_else(|| unsafe { get_handler() }));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            for &function in functions {
                // SAFETY: a function of MuJoCo of an `MjModel` and an `MjData` of its own.
                unsafe {
                    std::mem::transmute::<usize, Function>(function)(m as *const c_void, d as *mut c_void);
                }
            }
        }));
        LISTENER.set(listener);
        // SAFETY: as above.
        unsafe { set_handler(before) };
        outcome.map_err(|payload| match payload.downcast::<Failure>() {
            Ok(failure) => *failure,
            Err(payload) => resume_unwind(payload),
        })
    }
}
