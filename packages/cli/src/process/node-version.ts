// Loaded before everything else, also by a Node.js that is too old for the rest, so this file uses no newer features.
import { nodeTooOld } from "@virtual-workspaces/transport/node-version";

/**
 * Reports a Node.js that is too old, and sets the exit code to 1.
 *
 * @returns whether it is too old, so that nothing else should be loaded
 */
export function isTooOld(program: string): boolean {
  const message = nodeTooOld(program);
  if (message === undefined) return false;
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
  return true;
}
