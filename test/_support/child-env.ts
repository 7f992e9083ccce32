/** What every program that a test starts inherits: the search path, and the one cache of compiled code, which saves it a fifth of its start. */
export const CHILD_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  ["PATH", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
