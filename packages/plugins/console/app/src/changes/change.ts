import type { Resource } from "../api/discovery.ts";
import { changesBetween, pathText } from "../object/edit/changes.ts";
import type { ManagedFieldsEntry, WholeObject } from "../object/live-object.ts";
import { fieldsOf } from "../object/managed-fields.ts";
import { shownPart } from "../object/yaml/object-text.ts";

export type ChangeType = "created" | "changed" | "deleting" | "deleted";

/** A creation, change or deletion of an object. */
export interface Change {
  /** The same for the same change, whether a list or an event shows it. */
  readonly id: string;
  readonly type: ChangeType;
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  /** Field manager; undefined if the object has no record of it. */
  readonly by?: ManagedFieldsEntry;
  /** Top-level fields: those that have changed, or those that the field manager owns. */
  readonly fields: readonly string[];
  /** True for fields that have changed. */
  readonly isExact: boolean;
  /** In milliseconds; undefined if the object does not have it. */
  readonly time?: number;
  /** Set if the time is the end of a range: its beginning, in milliseconds; 0 if that is unknown. */
  readonly since?: number;
  /** Resource version of the event that shows this change; 0 for what the metadata of an object shows later. */
  readonly version: number;
}

/** The part of an object that lists of metadata and events have. */
export type Changed = Pick<WholeObject, "metadata">;

export interface Place {
  readonly resource: Resource;
  readonly object: Changed;
}

/** Managed fields are shown as the two first steps of their paths. */
const TOP = /^[^.[]+(?:\.[^.[]+)?/;

/** The changes that the metadata of an object shows: its creation, the last change of each field manager, and the request to delete it. */
export function changesInMetadata({ resource, object }: Place, version = 0): readonly Change[] {
  const { uid = "", creationTimestamp, deletionTimestamp, managedFields = [] } = object.metadata;
  const base = { ...placeOf({ resource, object }), version, isExact: false };
  const creator = managedFields.find(
    ({ time, subresource }) => time === creationTimestamp && subresource === undefined,
  );
  const created: Change = {
    ...base,
    id: `${uid} created`,
    type: "created",
    fields: topFieldsOf(creator),
    ...(creator !== undefined && { by: creator }),
    ...timeOf(creationTimestamp),
  };
  const others = managedFields
    .filter((entry) => entry !== creator && entry.time !== undefined)
    .map(
      (by): Change => ({
        ...base,
        id: `${uid} ${idOf(by)}`,
        type: "changed",
        by,
        fields: topFieldsOf(by),
        ...timeOf(by.time),
      }),
    );
  if (deletionTimestamp === undefined) return [created, ...others];
  return [
    created,
    ...others,
    { ...base, id: `${uid} deleting`, type: "deleting", fields: [], ...timeOf(deletionTimestamp) },
  ];
}

/** The changes of an event of a watch. `before` is the object of the previous event, if there was one. */
export function changesInEvent(
  { type, object }: { readonly type: string; readonly object: WholeObject },
  resource: Resource,
  before: WholeObject | undefined,
): readonly Change[] {
  const { uid = "", resourceVersion = "" } = object.metadata;
  const version = Number(resourceVersion) || 0;
  const place = { resource, object };
  if (type === "DELETED") return [{ ...deletionOf(place), version }];
  if (type === "ADDED") return changesInMetadata(place, version).slice(0, 1);
  // Its earlier state is unknown, so that it is unknown what this event has changed.
  if (before === undefined) return changesInMetadata(place);
  const entries = new Set((before.metadata.managedFields ?? []).map(idOf));
  const fresh = (object.metadata.managedFields ?? []).filter((entry) => !entries.has(idOf(entry)));
  const fields = changedFields(before, object);
  const base = { ...placeOf(place), version, isExact: true, fields };
  const changes: Change[] = fresh.map((by) => ({
    ...base,
    id: `${uid} ${idOf(by)}`,
    type: "changed",
    by,
    ...timeOf(by.time),
  }));
  // Not every write has a field manager, or a second of its own.
  if (fresh.length === 0 && fields.length > 0) changes.push({ ...base, id: `${uid} ${version}`, type: "changed" });
  const { deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined && before.metadata.deletionTimestamp === undefined)
    changes.push({ ...base, id: `${uid} deleting`, type: "deleting", fields: [], ...timeOf(deletionTimestamp) });
  return changes;
}

export function deletionOf({ resource, object }: Place): Change {
  const place = placeOf({ resource, object });
  return { ...place, id: `${object.metadata.uid} deleted`, type: "deleted", fields: [], isExact: true, version: 0 };
}

function placeOf({ resource, object: { metadata } }: Place) {
  return { resource, namespace: metadata.namespace ?? "", name: metadata.name };
}

const idOf = ({ manager, operation, subresource, apiVersion, time }: ManagedFieldsEntry): string =>
  `${manager} ${operation} ${subresource} ${apiVersion} ${time}`;

function timeOf(timestamp: string | undefined): { readonly time?: number } {
  const time = Date.parse(timestamp ?? "");
  return Number.isNaN(time) ? {} : { time };
}

const topFieldsOf = (entry: ManagedFieldsEntry | undefined): readonly string[] =>
  entry === undefined ? [] : [...new Set(fieldsOf(entry.fieldsV1).map((field) => TOP.exec(field)?.[0] ?? field))];

const SHOWN = { serverFields: false, status: true };

function changedFields(before: WholeObject, after: WholeObject): readonly string[] {
  const changes = changesBetween(shownPart(before, SHOWN), shownPart(after, SHOWN));
  return [...new Set(changes.map(({ path }) => pathText(path.slice(0, 2))))];
}
