// How an agent answers a CONNECT that it does not take. It says no more: what it says is not to be believed, nor shown.
/** It does not allow the target. */
export const REFUSED = 403;
/** It cannot have the target. */
export const UNREACHABLE = 502;
