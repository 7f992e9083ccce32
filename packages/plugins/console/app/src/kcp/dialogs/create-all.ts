import type { ResourceId } from "../../api/base.ts";
import { asStatusError, isStatusError, type StatusError } from "../../api/client.ts";
import {
  createObject,
  deleteObject,
  type ObjectAddress,
  readObject,
  replaceObject,
  type WriteOptions,
} from "../../api/objects.ts";
import type { KubernetesObject } from "../../api/types.ts";

/** An object that a dialog makes. */
export interface Made {
  readonly resource: ResourceId;
  readonly namespace?: string;
  readonly object: KubernetesObject & Readonly<Record<string, unknown>>;
  /** Replaces the object, which exists: in its version, or in the current one if it names none. */
  readonly isUpdate?: boolean;
  /** UID of the object that is deleted first, since its fields are immutable. */
  readonly instead?: string;
}

/** Error of the server about one of the objects of a dialog. */
class MadeError extends Error {
  override readonly name = "MadeError";
  readonly made: Made;
  readonly status: StatusError;

  constructor(made: Made, cause: unknown) {
    const status = asStatusError(cause);
    super(status.message, { cause });
    this.made = made;
    this.status = status;
  }
}

/**
 * Creates objects in their order, or replaces them, after the server has accepted all of them without storing any: what it rejects leaves nothing behind.
 * `done` has those of an earlier attempt, as JSON, which are then left out. Throws a MadeError.
 */
export async function createAll(workspace: string, all: readonly Made[], done: Set<string>): Promise<void> {
  const open = all.filter((made) => !done.has(JSON.stringify(made)));
  for (const made of open) await create(workspace, made, true);
  for (const made of open) {
    await create(workspace, made, false);
    done.add(JSON.stringify(made));
  }
}

async function create(workspace: string, made: Made, isDryRun: boolean): Promise<void> {
  const { resource, namespace = "", object, isUpdate = false, instead } = made;
  const options = { isDryRun, fieldValidation: "Strict" } as const;
  const { metadata } = object;
  try {
    if (instead !== undefined && isDryRun) {
      // The name is still taken.
      const other = { ...object, metadata: { ...metadata, name: `${metadata.name}.new` } };
      await createObject({ workspace, resource, namespace }, other, options);
      return;
    }
    if (instead !== undefined) await deleteObject({ workspace, resource, namespace, name: metadata.name }, instead);
    if (isUpdate) await replace({ workspace, resource, namespace, name: metadata.name }, object, options);
    else await createObject({ workspace, resource, namespace }, object, options);
  } catch (error) {
    throw new MadeError(made, error);
  }
}

/** Attempts of a replacement in the current version. */
const ATTEMPTS = 5;

/** Replaces an object: in the version that it names, else in the current one, since controllers write its status meanwhile. */
async function replace(at: ObjectAddress, object: Made["object"], options: WriteOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { resourceVersion } = object.metadata;
    const version = resourceVersion ?? (await readObject<KubernetesObject>(at)).metadata.resourceVersion ?? "";
    try {
      await replaceObject(at, { ...object, metadata: { ...object.metadata, resourceVersion: version } }, options);
      return;
    } catch (error) {
      if (resourceVersion !== undefined || attempt === ATTEMPTS || asStatusError(error).code !== 409) throw error;
    }
  }
}

/** The causes of a message such as `… is forbidden: [spec.a: … spec.b: …]`, each once; else the message itself. */
function causesOf(message: string): readonly string[] {
  const all = /: \[((?:metadata|spec|data)\b.*)\]$/s.exec(message)?.[1];
  if (all === undefined) return [message];
  return [...new Set(all.split(/,? (?=(?:metadata|spec|data)\b[^\s:]*: )/))];
}

/** Messages of an error by the field of a dialog that they concern. `fieldOf` gets the field of the server, such as `spec.group`. */
export function problemsByField<F extends string>(
  error: unknown,
  { fieldOf, other }: { readonly fieldOf: (made: Made, field: string) => F; readonly other: F },
): Partial<Record<F, string>> {
  if (!(error instanceof MadeError)) {
    return { [other]: isStatusError(error) || error instanceof Error ? error.message : String(error) } as Partial<
      Record<F, string>
    >;
  }
  const causes = error.status.status.details?.causes ?? [];
  const named = causes.filter(({ field, message }) => field && field !== "<nil>" && message);
  if (named.length === 0) {
    // Admission of kcp names the field in its message only.
    const field = /\b(metadata|spec|data)[.\w[\]]*/.exec(error.message)?.[0] ?? "metadata.name";
    return { [fieldOf(error.made, field)]: causesOf(error.message).join("\n") } as Partial<Record<F, string>>;
  }
  const found: Partial<Record<F, string>> = {};
  for (const { field = "", message = "" } of named) {
    const at = fieldOf(error.made, field);
    const text = `${field}: ${message}`;
    found[at] = found[at] === undefined ? text : `${found[at]}\n${text}`;
  }
  return found;
}
