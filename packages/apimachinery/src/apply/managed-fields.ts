import { compareUtf8, isJsonObject } from "../json/value.ts";
import type { ManagedFieldsEntry } from "../meta/types.ts";
import { goJson, quote } from "../text/go-format.ts";
import { formatTime, parseTime } from "../text/time.ts";
import type { FieldSet } from "./field-set.ts";
import { formatFieldsV1, parseFieldsV1 } from "./field-set.ts";

/** Identity of a manager. The version in which an applier last applied is not part of it. */
export interface ManagerKey {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
}

/** Manager of an object, with the fields that it owns. */
export interface Manager extends ManagerKey {
  /** RFC 3339 in whole seconds, UTC; undefined for a manager that has changed nothing. */
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** Entry that the manager was read from, if it can be written back unchanged. */
  readonly entry: ManagedFieldsEntry | undefined;
}

/** Managers of an object by {@link managerId}. */
export type Managers = ReadonlyMap<string, Manager>;

/** Returns the text that identifies a manager, the same as Kubernetes': it is the last criterion of the order. */
export function managerId({ manager, operation, apiVersion, subresource }: ManagerKey): string {
  const version = operation === "Apply" || apiVersion === "" ? "" : `,"apiVersion":${goJson(apiVersion)}`;
  const name = manager === "" ? "" : `"manager":${goJson(manager)},`;
  const part = subresource === "" ? "" : `,"subresource":${goJson(subresource)}`;
  return `{${name}"operation":"${operation}"${version}${part}}`;
}

/** Returns the manager with other fields. */
export function withFields(manager: Manager, set: FieldSet): Manager {
  return set === manager.set ? manager : { ...manager, set, entry: undefined };
}

/** Returns the manager with another time. */
export function withTime(manager: Manager, time: string): Manager {
  if (manager.time === time) return manager;
  return { ...manager, time, entry: manager.entry && { ...manager.entry, time } };
}

/** Whether a client asks to reset managedFields: an empty list, or a list of one empty entry. */
export function isReset(managedFields: unknown): boolean {
  if (!Array.isArray(managedFields) || managedFields.length > 1) return false;
  const [entry] = managedFields as unknown[];
  return entry === undefined || (isJsonObject(entry) && MEMBERS.every((name) => (entry[name] ?? "") === ""));
}

const TEXTS = ["manager", "operation", "apiVersion", "fieldsType", "subresource", "time"] as const;
const MEMBERS = [...TEXTS, "fieldsV1"] as const;

/** Options of {@link readManagers}. */
export interface ReadOptions {
  /** Whether this library wrote the entries: then an unchanged entry is reused and not written again. */
  readonly isOwn: boolean;
}

/**
 * Parses `metadata.managedFields`.
 *
 * @throws SyntaxError if it is malformed
 */
export function readManagers(managedFields: unknown, { isOwn }: ReadOptions): Managers {
  const managers = new Map<string, Manager>();
  if (!isManagedFields(managedFields)) return managers;
  for (const [at, entry] of managedFields.entries()) {
    const manager = readManager(entry, at);
    managers.set(managerId(manager), isOwn ? { ...manager, entry } : manager);
  }
  return managers;
}

/** Whether a value is a list of possible entries. Kubernetes treats any other value as absent. */
export function isManagedFields(value: unknown): value is ManagedFieldsEntry[] {
  return Array.isArray(value) && value.every(isEntry);
}

function isEntry(entry: unknown): boolean {
  if (!isJsonObject(entry)) return false;
  if (!TEXTS.every((name) => entry[name] === undefined || entry[name] === null || typeof entry[name] === "string"))
    return false;
  return typeof entry["time"] !== "string" || timeOf(entry["time"]) !== undefined;
}

function readManager(entry: ManagedFieldsEntry, at: number): Manager {
  const { manager = "", operation, apiVersion = "", subresource = "", time, fieldsType = "", fieldsV1 } = entry;
  if (operation !== "Apply" && operation !== "Update") throw new SyntaxError("operation must be `Apply` or `Update`");
  if (apiVersion === "") throw new SyntaxError("apiVersion must not be empty");
  if (fieldsType === "") throw new SyntaxError(`missing fieldsType in managed fields entry ${at}`);
  if (fieldsType !== "FieldsV1")
    throw new SyntaxError(`invalid fieldsType ${quote(fieldsType)} in managed fields entry ${at}`);
  const set = parseFieldsV1(fieldsV1 ?? {});
  return {
    manager,
    operation,
    apiVersion,
    subresource,
    time: time == null ? undefined : timeOf(time),
    set,
    entry: undefined,
  };
}

/** Formats `metadata.managedFields`, sorted as in Kubernetes. Returns undefined without managers. */
export function writeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map((manager) => manager.entry ?? writeManager(manager));
}

function compareManagers(a: Manager, b: Manager): number {
  return (
    compareUtf8(a.operation, b.operation) ||
    compareTimes(a, b) ||
    compareUtf8(a.manager, b.manager) ||
    compareUtf8(a.apiVersion, b.apiVersion) ||
    compareUtf8(a.subresource, b.subresource)
  );
}

/** Orders managers by the time of their last change; without one they count as of 1970, as in Kubernetes. */
export function compareTimes({ time: a = EPOCH }: Manager, { time: b = EPOCH }: Manager): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const EPOCH = "1970-01-01T00:00:00Z";

function writeManager({ manager, operation, apiVersion, subresource, time, set }: Manager): ManagedFieldsEntry {
  return {
    apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1: formatFieldsV1(set),
    ...(manager === "" ? {} : { manager }),
    operation,
    ...(subresource === "" ? {} : { subresource }),
    ...(time === undefined ? {} : { time }),
  };
}

function timeOf(text: string): string | undefined {
  const time = parseTime(text);
  if (time === undefined) return undefined;
  return text.length === "2006-01-02T15:04:05Z".length ? text : formatTime(time);
}
