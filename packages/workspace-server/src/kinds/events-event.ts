import { fieldInvalid, fieldRequired, type KubeObject, type StatusCause } from "@virtual-workspaces/apimachinery";
import { isComputed } from "@virtual-workspaces/apimachinery/tables";
import { Resource } from "@virtual-workspaces/framework";
import { type BuiltInKind, STANDARD_VERBS } from "./built-in-kind.ts";
import { int32, reference, text, time } from "./descriptions.ts";
import { eventColumns, eventFields, eventProblems, series, source } from "./event.ts";
import { immutableProblem, membersOf, textOf } from "./problems.ts";

/** Field names in `events.k8s.io/v1` and in the core group. */
const NAMES: readonly (readonly [events: string, core: string])[] = [
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
];

/** Converts an event of the core group to `events.k8s.io/v1`. */
export function eventOfCore(core: KubeObject): KubeObject {
  return { ...renamed(core, new Map(NAMES.map(([events, name]) => [name, events]))), apiVersion: "events.k8s.io/v1" };
}

/** Converts an event of `events.k8s.io/v1` to the core group. */
export function coreOfEvent(event: KubeObject): KubeObject {
  return { ...renamed(event, new Map(NAMES)), apiVersion: "v1" };
}

function renamed(object: KubeObject, names: ReadonlyMap<string, string>): KubeObject {
  const members = Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value] as const);
  return Object.fromEntries(members) as KubeObject;
}

/** Stricter rules than in the core group. As in Kubernetes, messages have the field names of the core group. */
function problems(event: KubeObject, before: KubeObject | undefined): StatusCause[] {
  const core = coreOfEvent(event);
  if (before === undefined) return [...eventProblems(core), ...seriesProblems(core), ...createProblems(core)];
  const old = coreOfEvent(before);
  const sameSeries = immutableProblem("series", core["series"], old["series"]).length === 0;
  return [
    ...eventProblems(core),
    ...(sameSeries ? [] : seriesProblems(core)),
    ...FIXED.flatMap(([field, name]) => immutableProblem(field, core[name], old[name])),
  ];
}

const FIXED: readonly (readonly [field: string, name: string])[] = [
  ...["involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type", "eventTime"],
  ...["action", "related", "reportingInstance"],
].map((name) => [name, name] as const);

function createProblems(core: KubeObject): StatusCause[] {
  const { component, host } = membersOf(core["source"]);
  const type = textOf(core["type"]);
  const unset = (field: string, isSet: boolean): StatusCause[] =>
    isSet ? [fieldInvalid(field, "", "needs to be unset")] : [];
  return [
    ...(textOf(core["eventTime"]) === "" ? [fieldRequired("eventTime")] : []),
    ...(type === "Normal" || type === "Warning" ? [] : [fieldInvalid("type", "", `has invalid value: ${type}`)]),
    ...unset("firstTimestamp", textOf(core["firstTimestamp"]) !== ""),
    ...unset("lastTimestamp", textOf(core["lastTimestamp"]) !== ""),
    ...unset("count", Number(core["count"] ?? 0) !== 0),
    ...unset("source", textOf(component) !== "" || textOf(host) !== ""),
  ];
}

function seriesProblems(core: KubeObject): StatusCause[] {
  if (core["series"] === undefined) return [];
  const { count, lastObservedTime } = membersOf(core["series"]);
  return [
    ...(Number(count ?? 0) < 2 ? [fieldInvalid("series.count", "", "should be at least 2")] : []),
    ...(textOf(lastObservedTime) === "" ? [fieldRequired("series.lastObservedTime")] : []),
  ];
}

/** `events.k8s.io/v1` Event: the objects of the core group with other field names. */
export const Event: Resource = new Resource({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  scope: "Namespaced",
  shortNames: ["ev"],
  description: "Event is a report of an event somewhere in the cluster. It generally denotes some state change.",
  schema: {
    type: "object",
    properties: {
      eventTime: { ...time("Time of the first occurrence."), default: null },
      series,
      reportingController: text("Controller that reported the event, such as kubernetes.io/kubelet."),
      reportingInstance: text("Instance of that controller."),
      action: text("Action that was taken or failed."),
      reason: text("Reason for the event, as one CamelCase word."),
      regarding: reference("Object that the event is about."),
      related: reference("Second object that the event is about."),
      note: text("Description of the event, at most 1 KiB."),
      type: text("Normal or Warning."),
      deprecatedSource: source,
      deprecatedFirstTimestamp: { ...time("Field of events of the core group."), default: null },
      deprecatedLastTimestamp: { ...time("Field of events of the core group."), default: null },
      deprecatedCount: int32("Field of events of the core group."),
    },
  },
  columns: eventColumns.map((column) =>
    isComputed(column) ? { ...column, value: (event: KubeObject) => column.value(coreOfEvent(event)) } : column,
  ),
  selectableFields: eventFields("regarding", "reportingController"),
  strategy: { names: "segment", generation: false, unconditionalUpdate: true, createOnUpdate: true, problems },
});

export const events: BuiltInKind = { resource: Event, verbs: STANDARD_VERBS };
