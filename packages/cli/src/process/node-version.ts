// Loaded before everything else, also by a Node.js that is too old for the rest, so this file uses no newer features.

/** Oldest supported Node.js, as in `engines` of package.json. */
const OLDEST_NODE = "22.19.0";

/**
 * Reports a Node.js that is too old, and sets the exit code to 1.
 *
 * @returns whether it is too old, so that nothing else should be loaded
 */
export function isTooOld(program: string): boolean {
  const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
  const [oldest, oldestMinor] = OLDEST_NODE.split(".").map(Number) as [number, number];
  if (major > oldest || (major === oldest && minor >= oldestMinor)) return false;
  process.stderr.write(
    `${program} needs Node.js ${oldest}.${oldestMinor} or newer, and ${process.execPath} is Node.js ${process.versions.node}: put a newer node first on the PATH\n`,
  );
  process.exitCode = 1;
  return true;
}
