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

const involved = (event: KubeObject): Readonly<Record<string, unknown>> => membersOf(event["involvedObject"]);
const isSet = (time: unknown): boolean => textOf(time) !== "";
/** Kubernetes counts bytes, although its message says characters. */
const tooLong = (field: string, value: string, most: number): StatusCause[] =>
  Buffer.byteLength(value) > most ? [fieldInvalid(field, "", `can have at most ${most} characters`)] : [];

/** Validates events of either group, as Kubernetes does. */
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

/** Validates the reporter and the content of events with an `eventTime`. */
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

/** Columns of events. None is a default column, since even the name comes last. */
export const eventColumns: readonly TableColumn[] = allColumns({
  "Last Seen": {
    type: "string",
    description: "Time since the last occurrence.",
    value: (event) => ago(seen(event).last),
  },
  Type: { type: "string", jsonPath: ".type", description: "Normal or Warning." },
  Reason: { type: "string", jsonPath: ".reason", description: "Reason for the event, as one CamelCase word." },
  Object: { type: "string", description: "Object that the event is about.", value: subject },
  Subobject: {
    type: "string",
    priority: 1,
    description: "Part of that object.",
    value: (event) => textOf(involved(event)["fieldPath"]),
  },
  Source: { type: "string", priority: 1, description: "Component that reported the event.", value: reporter },
  Message: {
    type: "string",
    description: "Description.",
    value: (event) => textOf(event["message"]).trim(),
  },
  "First Seen": {
    type: "string",
    priority: 1,
    description: "Time since the event was first seen.",
    value: (event) => ago(seen(event).first),
  },
  Count: {
    type: "integer",
    advertisedType: "string",
    priority: 1,
    description: "Number of occurrences.",
    value: (event) => seen(event).count,
  },
  Name: { type: "string", format: "name", priority: 1, description: "Name of the event.", jsonPath: ".metadata.name" },
});

const PARTS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

/** Field selectors of events. The fields of the object and of the reporter have different names in the two groups. */
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

/** Number of occurrences in a series. */
export const series: JsonSchema = object("Series that the event belongs to, if it occurred more than once.", {
  count: int32("Number of occurrences."),
  lastObservedTime: time("Time of the last occurrence."),
});

export const source: JsonSchema = object("Component that reported the event; deprecated.", {
  component: text("Name of the component."),
  host: text("Node of the component."),
});

/** `v1` Event: the form in which events are stored. */
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
      involvedObject: reference("Object that the event is about."),
      reason: text("Reason for the event, as one CamelCase word."),
      message: text("Description."),
      source,
      firstTimestamp: { ...time("Time of the first occurrence."), default: null },
      lastTimestamp: { ...time("Time of the last occurrence."), default: null },
      count: int32("Number of occurrences."),
      type: text("Normal or Warning."),
      eventTime: { ...time("Time of the first occurrence, with microseconds."), default: null },
      series,
      action: text("Action that was taken or failed."),
      related: reference("Second object that the event is about."),
      reportingComponent: {
        ...text("Reporting controller, such as kubernetes.io/kubelet."),
        default: "",
      },
      reportingInstance: { ...text("Instance of that controller."), default: "" },
    },
  },
  columns: eventColumns,
  selectableFields: eventFields("involvedObject", "reportingComponent"),
  strategy: {
    names: "segment",
    generation: false,
    unconditionalUpdate: true,
    createOnUpdate: true,
    problems: eventProblems,
  },
});

export const coreEvents: BuiltInKind = { resource: CoreEvent, verbs: STANDARD_VERBS };
