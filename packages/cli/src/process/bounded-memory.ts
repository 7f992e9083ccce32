/**
 * Maximum size of a half of V8's space for new objects, in MiB. V8's default is 64 without compressed pointers, and a server with
 * many short requests fills all of it with garbage.
 */
const SEMI_SPACE = 8;
const FLAG = "--max-semi-space-size";

/**
 * Variables of glibc. By default, each thread keeps freed memory in an arena of its own, and buffers of large responses keep more
 * and more memory in these arenas. From 128 KiB on, a buffer is memory of the system, which gets it back.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "131072" };

/**
 * Bounds the memory of this process for short-lived objects and freed buffers: starts the same program again in the same process,
 * since V8 and glibc read these settings only once. Call it before anything else. Options and variables of the user take
 * precedence. Does nothing where a process cannot do so (Windows), and in a child process with a channel, which would be lost.
 * Child processes inherit the settings.
 */
export function boundMemory(): void {
  const { execve, execArgv, execPath, argv, env } = process;
  const given = [...execArgv, env["NODE_OPTIONS"] ?? ""].join(" ").replaceAll("_", "-");
  if (execve === undefined || process.send !== undefined || given.includes(FLAG)) return;
  const options = [`${FLAG}=${SEMI_SPACE}`, ...execArgv];
  execve(execPath, [execPath, ...options, ...argv.slice(1)], { ...ALLOCATOR, ...env });
}
