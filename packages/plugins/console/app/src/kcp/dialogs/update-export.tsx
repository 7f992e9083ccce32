import { changesBetween, pathText } from "../../object/edit/changes.ts";
import type { ApiExport, ApiResourceSchema, ExportedResource } from "../kinds.ts";
import { nameOfClaim } from "../kinds.ts";
import { texts } from "../texts.ts";
import { type Snapshot, schemaName } from "./snapshot.ts";

/** A resource of an export, with what a pasted schema changes in it. */
export interface SchemaChange {
  readonly snapshot: Snapshot;
  /** Undefined for a resource that the export does not have yet, or whose schema cannot be read. */
  readonly fields?: readonly string[];
  readonly isNew: boolean;
}

/** What pasted schemas change in an export. */
export function schemaChanges(
  { spec }: ApiExport,
  schemas: readonly ApiResourceSchema[],
  snapshots: readonly Snapshot[],
): readonly SchemaChange[] {
  return snapshots.map((snapshot) => {
    const before = (spec?.resources ?? []).find((one) => isOf(one, snapshot));
    const schema = schemas.find(({ metadata }) => metadata.name === before?.schema);
    if (before === undefined || schema === undefined) return { snapshot, isNew: before === undefined };
    // The server has set this one, where the text says nothing.
    const after = { nameValidation: "DNS1123Subdomain", ...snapshot.spec };
    return { snapshot, isNew: false, fields: changesBetween(schema.spec, after).map(({ path }) => pathText(path)) };
  });
}

/** The export with the new schemas of the changed resources. The others stay as they are. */
export function updatedExport(object: ApiExport, prefix: string, changed: readonly Snapshot[]) {
  const resources = object.spec?.resources ?? [];
  const kept = resources.map((one): ExportedResource => {
    const snapshot = changed.find((other) => isOf(one, other));
    return snapshot === undefined ? one : { ...one, schema: schemaName(prefix, snapshot) };
  });
  const added = changed
    .filter((snapshot) => !resources.some((one) => isOf(one, snapshot)))
    .map((one) => ({ group: one.group, name: one.plural, schema: schemaName(prefix, one), storage: { crd: {} } }));
  return {
    ...object,
    apiVersion: "apis.kcp.io/v1alpha2",
    kind: "APIExport",
    spec: { ...object.spec, resources: [...kept, ...added] },
  };
}

const isOf = ({ group, name }: ExportedResource, snapshot: Snapshot): boolean =>
  (group ?? "") === snapshot.group && name === snapshot.plural;

/** Fields that are named at most. */
const MOST = 12;

/** Says that the export exists, and what the pasted schemas change in it. */
export function ExportChanges({ name, changes }: { readonly name: string; readonly changes: readonly SchemaChange[] }) {
  const words = texts.exportDialog.update;
  return (
    <div class="update" role="status">
      <p>{words.exists(name)}</p>
      <ul class="consequences">
        {changes.map(({ snapshot, fields, isNew }) => (
          <li key={`${snapshot.group}/${snapshot.plural}`}>
            <strong>{nameOfClaim({ group: snapshot.group, resource: snapshot.plural })}</strong> {isNew && words.isNew}
            {!isNew && fields === undefined && words.unread}
            {fields?.length === 0 && words.same}
            {fields !== undefined && fields.length > 0 && (
              <>
                {words.changes(fields.length)} <code>{fields.slice(0, MOST).join(", ")}</code>
                {fields.length > MOST && " …"}
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
