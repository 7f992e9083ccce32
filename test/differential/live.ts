// What this run compares, and what is known to differ without being meant to.

/** Cases that wait for a repair, by topic. One that is equal fails: then it is repaired, and its line here goes. */
const PENDING: Readonly<Record<string, readonly string[]>> = {};

/** Where random histories meet what waits for a repair. */
const PENDING_FIELDS: readonly RegExp[] = [];

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

/** Whether a difference of random histories is one that waits for a repair. */
export function isPendingField(at: string): boolean {
  return PENDING_FIELDS.some((field) => field.test(at));
}
