import { ApiError, isApiError, isJsonObject, type KubeObject, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";
import {
  decodeObject,
  type Encoded,
  type PatchOptions,
  type Scope,
  type SentWrite,
  type Storage,
  type WriteOptions,
  type Written,
} from "@virtual-workspaces/framework/storage";
import { type ClaimSelector, claimMatches } from "@virtual-workspaces/kcp/apis";

/** Storage for selected writes. */
export type SelectedThere = Required<Pick<Storage, "create" | "update" | "pass" | "patch">>;

/** Target of a patch, and the selector for its object. */
export interface SelectedObject {
  readonly scope: Scope;
  readonly key: ObjectKey;
  readonly selector: ClaimSelector;
}

/** Number of attempts on conflicts, as in client-go. */
const ATTEMPTS = 5;
const APPLY = "application/apply-patch+yaml";

/**
 * Writes of objects that a claim must select. Only the server knows the resulting object, so this class sends a dry run and checks
 * its result. Nearly always it matches, and the original request follows unchanged. Otherwise the class adds the labels, to an
 * apply, which stays one, or to the resulting object. The cost is a second request.
 */
export class SelectedWrites {
  readonly #definition: ResourceDefinition;
  readonly #there: SelectedThere;

  constructor(definition: ResourceDefinition, there: SelectedThere) {
    this.#definition = definition;
    this.#there = there;
  }

  /** @throws ApiError 403 on an object that the claim does not select */
  pass(scope: Scope, write: SentWrite, selector: ClaimSelector): Promise<Written> {
    return this.#selected({
      selector,
      options: write,
      send: async (more) => this.#there.pass(scope, { ...write, ...more }),
      sendWith: (labels, object) => {
        if (write.verb === "update") return this.#put(scope, withLabels(object, labels), write);
        return this.#post(scope, withLabels(withoutServerFields(object), labels), write);
      },
    });
  }

  /** @throws like {@link pass} */
  patch({ scope, key, selector }: SelectedObject, patch: PatchOptions): Promise<Written> {
    return this.#selected({
      selector,
      options: patch,
      send: async (more) => this.#there.patch(scope, key, { ...patch, ...more }),
      sendWith: async (labels, object) => {
        if (patch.contentType !== APPLY) return this.#put(scope, withLabels(object, labels), patch);
        return this.#there.patch(scope, key, { ...patch, patch: this.#applyWith(labels, patch) });
      },
    });
  }

  async #selected({ selector, options, send, sendWith }: Selected): Promise<Written> {
    for (let attempt = 1; ; attempt++) {
      const { warn, dryRun, signal } = options;
      const tried = await send({ dryRun: true, ...(dryRun ? {} : { warn: () => undefined }) });
      const object = objectOf(tried.object);
      const missing = missingLabels(object, selector, this.#definition);
      if (missing === undefined) return dryRun ? tried : send({ warn });
      signal.throwIfAborted();
      try {
        return await sendWith(missing, object);
      } catch (error) {
        if (!isApiError(error) || error.reason !== "Conflict" || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #post(scope: Scope, object: KubeObject, options: WriteOptions): Promise<Written> {
    return { object: await this.#there.create(scope, object, options), created: true };
  }

  /** Updates exactly the version of the dry run. */
  async #put(scope: Scope, object: KubeObject, options: WriteOptions): Promise<Written> {
    return { object: await this.#there.update(scope, object, options) };
  }

  /** This class does not parse YAML; the error names the labels to add. */
  #applyWith(labels: Labels, { patch }: PatchOptions): Buffer {
    const config = parsed(patch);
    if (config !== undefined) return Buffer.from(stringifyJson(withLabels(config, labels)));
    const list = Object.entries(labels).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
    const message = `object does not match required labels: add ${list.join(", ")} to metadata.labels`;
    throw ApiError.forbidden({ resource: groupResourceOf(this.#definition), message });
  }
}

/** Write, with functions that send it unchanged and with labels. */
interface Selected {
  readonly selector: ClaimSelector;
  readonly options: WriteOptions;
  readonly send: (more: Partial<Pick<WriteOptions, "dryRun" | "warn">>) => Promise<Written>;
  readonly sendWith: (labels: Labels, object: KubeObject) => Promise<Written>;
}

function objectOf(object: KubeObject | Encoded): KubeObject {
  return "bytes" in object ? decodeObject(object as Encoded) : object;
}

function parsed(patch: Buffer): KubeObject | undefined {
  try {
    const value = parseOwnJson(patch.toString("utf8"));
    return isJsonObject(value) && isJsonObject(value["metadata"]) ? (value as unknown as KubeObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Labels by key. */
type Labels = Readonly<Record<string, string>>;

/**
 * Returns the labels of the claim's selector that an object lacks.
 *
 * @throws ApiError 403 when a label has another value, or the claim does not select the object even with them
 */
export function missingLabels(
  { metadata }: KubeObject,
  selector: ClaimSelector,
  definition: ResourceDefinition,
): Labels | undefined {
  const { labels = {}, name } = metadata;
  const forbidden = (message: string): ApiError =>
    ApiError.forbidden({ resource: groupResourceOf(definition), name, message });
  const wanted = Object.entries(selector.matchLabels ?? {});
  const other = wanted.find(([key, value]) => Object.hasOwn(labels, key) && labels[key] !== value);
  if (other !== undefined) throw forbidden(`protected label ${other[0]} must have value ${other[1]}`);
  const missing = wanted.filter(([key]) => !Object.hasOwn(labels, key));
  if (!claimMatches(selector, { ...labels, ...Object.fromEntries(missing) }))
    throw forbidden("object does not match required labels");
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

/** Returns the object with additional labels. */
function withLabels(object: KubeObject, labels: Labels): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
}

/** Returns a new object as the server would store it, without the fields that the server sets. */
function withoutServerFields(object: KubeObject): KubeObject {
  const { uid, resourceVersion, generation, creationTimestamp, managedFields, selfLink, ...metadata } = object.metadata;
  return { ...object, metadata };
}
