// Topics that our side is held to. The rest is recorded, and compared on demand: TOPICS=all or their names.

const LIVE: readonly string[] = [
  "bodies",
  "field-validation",
  "yaml",
  "schema",
  "validation",
  "formats",
  "update",
  "versions",
  "json-patch",
  "apply-lists",
  "delete",
  "finalizers",
  "delete-collection",
  "status",
  "scale",
  "selectors",
  "lists",
  "watch",
];

/** Whether a topic is compared in this run. */
export function isLive(topic: string): boolean {
  const asked = process.env["TOPICS"];
  if (asked === undefined) return LIVE.includes(topic);
  return asked === "all" || asked.split(",").includes(topic);
}
