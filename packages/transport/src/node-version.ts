// Loaded before anything else, also by a Node.js that is too old for the rest: nothing here may need a newer one.

/**
 * Oldest Node.js that the packages run on, as `engines` in package.json states it: the first release of version 24 with
 * long-term support. Earlier ones lack `worker.cpuUsage()`, and drop HTTP/2 header lines without an error.
 */
const OLDEST = [24, 11] as const;

/**
 * Returns a message if this Node.js is too old for the packages, else `undefined`. Entry points throw it when they are loaded.
 *
 * @param program subject of the message, such as `kubectl ws`
 */
export function nodeTooOld(program: string): string | undefined {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `${program} needs Node.js ${OLDEST.join(".")} or newer, and ${process.execPath} is Node.js ${node}: put a newer node first on the PATH`;
}
