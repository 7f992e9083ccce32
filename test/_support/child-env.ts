/**
 * Environment of every program that a test starts: the search path, and the shared compile cache, which saves a fifth of its
 * startup.
 */
export const CHILD_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  ["PATH", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
