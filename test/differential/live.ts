// What this run compares, and what is known to differ without being meant to.

/** Cases that wait for a repair, by topic. One that is equal fails: then it is repaired, and its line here goes. */
const PENDING: Readonly<Record<string, readonly string[]>> = {};

/** Topics that are asked for: `TOPICS=apply,update`. @default all */
const ASKED = process.env["TOPICS"]?.split(",");

/** Whether a topic is compared in this run. */
export function isAsked(topic: string): boolean {
  return ASKED === undefined || ASKED.includes(topic);
}

/** Whether all are: only then can be said what no case needs. */
export function isWhole(): boolean {
  return ASKED === undefined;
}

export function isPending(topic: string, name: string): boolean {
  return PENDING[topic]?.includes(name) === true;
}

/** Random histories find whatever is pending: they are run once nothing is, or when they are asked for. */
export function hasHistories(): boolean {
  return Object.keys(PENDING).length === 0 || ASKED?.includes("histories") === true;
}
