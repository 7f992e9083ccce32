/** Checks of all objects together in a second: few enough that a server without other work counts as idle, and returns memory. */
const PER_SECOND = 25;

/**
 * Returns the delay before an object is checked again, in ms, which grows with the number of objects that are checked in turns: all
 * together are checked at most 25 times a second.
 *
 * @param least delay with few objects, in ms
 * @param count number of objects
 */
export function paced(least: number, count: number): number {
  return Math.max(least, (count / PER_SECOND) * 1000);
}
