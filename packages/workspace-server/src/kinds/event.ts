import {
  fieldInvalid,
  fieldRequired,
  humanDuration,
  type JsonSchema,
  type KubeObject,
  labelKeyProblems,
  nameProblems,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { TableColumn } from "@virtual-workspaces/apimachinery/tables";
import { type FieldSpec, Resource } from "@virtual-workspaces/framework";
import { allColumns, type BuiltInKind, STANDARD_VERBS } from "./built-in-kind.ts";
import { int32, object, reference, text, time } from "./descriptions.ts";
import { membersOf, textOf } from "./problems.ts";
import { coreEventMessage } from "./protobuf.ts";

const involved = (event: KubeObject): Readonly<Record<string, unknown>> => membersOf(event["involvedObject"]);
const isSet = (time: unknown): boolean => textOf(time) !== "";
/** Kubernetes counts bytes and says characters. */
const tooLong = (field: string, value: string, most: number): StatusCause[] =>
  Buffer.byteLength(value) > most ? [fieldInvalid(field, "", `can have at most ${most} characters`)] : [];

/** What Kubernetes asks of an event of either group. */
export function eventProblems(event: KubeObject): StatusCause[] {
  const namespace = event.metadata.namespace ?? "";
  const about = textOf(involved(event)["namespace"]);
  const wrongPlace = fieldInvalid("involvedObject.namespace", about, "does not match event.namespace");
  const inNamespace = nameProblems(namespace).map((problem) => fieldInvalid("namespace", namespace, problem));
  if (!isSet(event["eventTime"])) {
    const right = about === "" ? namespace === "" || namespace === "default" : about === namespace;
    return [...(right ? [] : [wrongPlace]), ...inNamespace];
  }
  const right = about !== "" || namespace === "default" || namespace === "kube-system";
  return [...(right ? [] : [wrongPlace]), ...reportProblems(event), ...inNamespace];
}

/** Of events with an `eventTime`: who tells, and what. */
function reportProblems(event: KubeObject): StatusCause[] {
  const controller = textOf(event["reportingComponent"]);
  const required = (field: string, member = field): StatusCause[] =>
    textOf(event[member]) === "" ? [fieldRequired(field)] : [];
  return [
    ...required("reportingController", "reportingComponent"),
    ...labelKeyProblems(controller).map((problem) => fieldInvalid("reportingController", controller, problem)),
    ...required("reportingInstance"),
    ...tooLong("reportingInstance", textOf(event["reportingInstance"]), 128),
    ...required("action"),
    ...tooLong("action", textOf(event["action"]), 128),
    ...required("reason"),
    ...tooLong("reason", textOf(event["reason"]), 128),
    ...tooLong("message", textOf(event["message"]), 1024),
  ];
}

function ago(time: unknown): string {
  return isSet(time) ? humanDuration(Date.now() - Date.parse(textOf(time))) : "<unknown>";
}

function seen(event: KubeObject): { readonly first: unknown; readonly last: unknown; readonly count: number } {
  const first = isSet(event["firstTimestamp"]) ? event["firstTimestamp"] : event["eventTime"];
  const series = event["series"];
  if (series !== undefined) {
    const { lastObservedTime, count } = membersOf(series);
    return { first, last: lastObservedTime, count: Number(count ?? 0) };
  }
  const last = isSet(event["lastTimestamp"]) ? event["lastTimestamp"] : first;
  return { first, last, count: Number(event["count"] ?? 0) || 1 };
}

function subject(event: KubeObject): string {
  const { kind, name } = involved(event);
  const lower = textOf(kind).toLowerCase();
  return textOf(name) === "" ? lower : `${lower}/${textOf(name)}`;
}

function reporter(event: KubeObject): string {
  const { component, host } = membersOf(event["source"]);
  const who = textOf(component) || textOf(event["reportingComponent"]);
  const where = textOf(host) || textOf(event["reportingInstance"]);
  return where === "" ? who : `${who}, ${where}`;
}

/** The columns are events' own from the first to the last: the name is one of them. */
export const eventColumns: readonly TableColumn[] = allColumns({
  "Last Seen": { type: "string", description: "When it was last seen.", value: (event) => ago(seen(event).last) },
  Type: { type: "string", jsonPath: ".type", description: "Normal or Warning." },
  Reason: { type: "string", jsonPath: ".reason", description: "Why it was told, in one word." },
  Object: { type: "string", description: "What it is about.", value: subject },
  Subobject: {
    type: "string",
    priority: 1,
    description: "Which part of that.",
    value: (event) => textOf(involved(event)["fieldPath"]),
  },
  Source: { type: "string", priority: 1, description: "Who tells it.", value: reporter },
  Message: { type: "string", description: "What happened.", value: (event) => textOf(event["message"]).trim() },
  "First Seen": {
    type: "string",
    priority: 1,
    description: "When it was first seen.",
    value: (event) => ago(seen(event).first),
  },
  Count: {
    type: "integer",
    advertisedType: "string",
    priority: 1,
    description: "How often.",
    value: (event) => seen(event).count,
  },
  Name: { type: "string", format: "name", priority: 1, description: "Its own name.", jsonPath: ".metadata.name" },
});

const PARTS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

/** What events are found by: what they are about, under the name that it has in a group, and more. */
export function eventFields(about: string, reportedBy: string): FieldSpec[] {
  const source = (event: KubeObject): string =>
    textOf(membersOf(event["source"] ?? event["deprecatedSource"])["component"]) || textOf(event[reportedBy]);
  return [
    ...PARTS.map((part) => `.${about}.${part}`),
    ".reason",
    `.${reportedBy}`,
    ".type",
    { name: "source", value: source },
  ];
}

/** How often something was seen in a row. */
export const series: JsonSchema = object("How often it was seen, when more than once.", {
  count: int32("How often."),
  lastObservedTime: time("When last."),
});

export const source: JsonSchema = object("Who tells it, as events were told before.", {
  component: text("The program."),
  host: text("Where it runs."),
});

/** `v1` Event: the form that events are kept in. */
export const CoreEvent: Resource = new Resource({
  group: "",
  version: "v1",
  kind: "Event",
  scope: "Namespaced",
  shortNames: ["ev"],
  description: "Event is a report of an event somewhere in the cluster.",
  schema: {
    type: "object",
    properties: {
      involvedObject: reference("What it is about."),
      reason: text("Why it is told, in one word."),
      message: text("What happened."),
      source,
      firstTimestamp: { ...time("When it was first seen."), default: null },
      lastTimestamp: { ...time("When it was last seen."), default: null },
      count: int32("How often."),
      type: text("Normal or Warning."),
      eventTime: { ...time("When it was first seen, with microseconds."), default: null },
      series,
      action: text("What was done about it."),
      related: reference("What else it is about."),
      reportingComponent: { ...text("The controller that tells it: kubernetes.io/kubelet."), default: "" },
      reportingInstance: { ...text("Which instance of that."), default: "" },
    },
  },
  columns: eventColumns,
  selectableFields: eventFields("involvedObject", "reportingComponent"),
  protobuf: coreEventMessage,
  strategy: {
    names: "segment",
    generation: false,
    unconditionalUpdate: true,
    createOnUpdate: true,
    problems: eventProblems,
  },
});

export const coreEvents: BuiltInKind = { resource: CoreEvent, verbs: STANDARD_VERBS };
