import { compareUtf8 } from "../json/value.ts";
import { ApiError } from "../meta/api-error.ts";
import { quote } from "../text/go-format.ts";
import type { FieldSet } from "./field-set.ts";
import { type Manager, managerId } from "./managed-fields.ts";

/** Fields that an apply would change and that another manager owns. */
export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** Limit on the listed paths of a conflict, in characters: names can be long and fields many. */
const MAX_PATHS = 256 * 1024;

/** Returns the 409 with a cause for each field that other managers own, in Kubernetes' words, which kubectl shows. */
export function conflictError(conflicts: readonly Conflict[]): ApiError {
  const sorted = [...conflicts].sort((a, b) => compareUtf8(managerId(a.manager), managerId(b.manager)));
  const found: FoundConflicts[] = [];
  let room = MAX_PATHS;
  for (const { manager, fields } of sorted) {
    const paths: string[] = [];
    for (const path of room > 0 ? fields.paths() : []) {
      paths.push(path);
      room -= path.length;
      if (room <= 0) break;
    }
    found.push({ name: nameOf(manager), paths, count: fields.size });
  }
  const causes = found.flatMap(({ name, paths }) =>
    paths.map((field) => ({ reason: "FieldManagerConflict" as const, message: `conflict with ${name}`, field })),
  );
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: conflictMessage(found),
    reason: "Conflict",
    details: { causes },
    code: 409,
  });
}

interface FoundConflicts {
  readonly name: string;
  /** Paths of the fields, as many as fit into the limit. */
  readonly paths: readonly string[];
  readonly count: number;
}

function conflictMessage(found: readonly FoundConflicts[]): string {
  const total = found.reduce((sum, { count }) => sum + count, 0);
  if (total === 1) return `Apply failed with 1 conflict: conflict with ${found[0]?.name}: ${found[0]?.paths[0]}`;
  const lines = found.flatMap(({ name, paths, count }) => {
    const rest = count > paths.length ? [`- and ${count - paths.length} more`] : [];
    return [`conflicts with ${name}:`, ...paths.map((path) => `- ${path}`), ...rest];
  });
  return `Apply failed with ${total} conflicts: ${lines.join("\n")}`;
}

function nameOf({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = `${quote(manager)}${subresource === "" ? "" : ` with subresource ${quote(subresource)}`}`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}

/** Returns a 500 without a reason: Kubernetes' answer to an apply configuration that does not fit the schema. */
export function applyFailure(message: string, cause?: unknown): ApiError {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 } as const;
  return new ApiError(status, { cause });
}
