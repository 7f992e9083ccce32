import {
  ApiError,
  apiVersionOf,
  isJsonObject,
  type KubeObject,
  type ManagedFieldsEntry,
  quote,
} from "@virtual-workspaces/apimachinery";
import {
  managedFieldsOfScale,
  managedFieldsOfScaled,
  type ReplicasFields,
} from "@virtual-workspaces/apimachinery/apply";
import { type KindVersions, perVersions, type ResourceDefinition, type ScalePaths } from "../../definition.ts";
import { ScaleFieldError, type ScaleFields, scaleFields } from "./scale-fields.ts";
import { SCALE } from "./scale-kind.ts";

const TYPE = { kind: SCALE.kind, apiVersion: apiVersionOf(SCALE) };

/** What a Scale wants as long as nobody has said how many: Kubernetes' sign for it, the least that it can count. */
const UNSAID = -(2 ** 31);

/** Objects of a kind seen as `Scale`s (apiextensions' ScaleREST). */
export class Scaling {
  readonly #fields: ScaleFields;
  readonly #replicas: () => ReplicasFields;

  /** @param versions of the kind, where it has several: who owns the replicas may have said so in another */
  constructor(definition: ResourceDefinition, paths: ScalePaths, versions?: KindVersions) {
    this.#fields = scaleFields(paths);
    this.#replicas = perVersions(versions, () => replicasFields(definition, versions));
  }

  /** The Scale of an object. @throws ApiError 500 when the object does not say how many replicas are wanted */
  show(object: KubeObject): KubeObject {
    const { path } = this.#fields.wanted;
    if (this.#wanted(object) === undefined)
      throw ApiError.internalError(`the spec replicas field ${quote(path)} does not exist`);
    return this.#scale(object, 0);
  }

  /** The Scale of an object that has just been written: one that does not say how many wants none. */
  showWritten(object: KubeObject): KubeObject {
    return this.#scale(object, 0);
  }

  /** The Scale of an object for whoever is about to change it, with the owners of its replicas. */
  draft(object: KubeObject): KubeObject {
    const owners = managedFieldsOfScale(object.metadata.managedFields, this.#replicas());
    return withOwners(this.#scale(object, UNSAID), owners);
  }

  /**
   * Takes over from a Scale what it can change, in place: how many replicas are wanted, who owns that, and which object in
   * which version it is about.
   *
   * @throws ApiError 400 when it does not say how many
   */
  take(object: KubeObject, scale: KubeObject): KubeObject {
    const { wanted } = this.#fields;
    const replicas = replicasOf(scale);
    if (replicas === UNSAID) throw ApiError.badRequest(`the spec replicas field ${quote(wanted.path)} cannot be empty`);
    readable(() => wanted.write(object, replicas));
    const { uid, resourceVersion, managedFields } = scale.metadata;
    if (uid !== undefined) object.metadata.uid = uid;
    if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
    return withOwners(object, managedFieldsOfScaled(object.metadata.managedFields, managedFields, this.#replicas()));
  }

  #wanted(object: KubeObject): number | undefined {
    return readable(() => this.#fields.wanted.readInteger(object));
  }

  /** In the form that Go gives a Scale: without replicas where none are wanted. @param unsaid for an object that says nothing */
  #scale(object: KubeObject, unsaid: number): KubeObject {
    const { present, selector } = this.#fields;
    const replicas = this.#wanted(object) ?? unsaid;
    const count = readable(() => present.readInteger(object)) ?? 0;
    const text = readable(() => selector?.readText(object)) ?? "";
    return {
      ...TYPE,
      metadata: identityOf(object),
      spec: replicas === 0 ? {} : { replicas },
      status: { replicas: count, ...(text === "" ? {} : { selector: text }) },
    };
  }
}

/** Where each version has its replicas. */
function replicasFields(definition: ResourceDefinition, versions: KindVersions | undefined): ReplicasFields {
  const { definitions } = versions ?? { definitions: [definition] };
  const paths = definitions.flatMap((one): [string, readonly string[]][] => {
    const { scale } = one.subresources;
    return scale === undefined ? [] : [[apiVersionOf(one), scaleFields(scale).wanted.names]];
  });
  return { apiVersion: apiVersionOf(definition), paths: new Map(paths) };
}

function identityOf({ metadata }: KubeObject): KubeObject["metadata"] {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const all = Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

function withOwners(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject {
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
  return object;
}

/** What an object keeps where its kind says that replicas are is no fault of the client. */
function readable<R>(read: () => R): R {
  try {
    return read();
  } catch (error) {
    throw error instanceof ScaleFieldError ? ApiError.internalError(error.message) : error;
  }
}

function replicasOf({ spec }: KubeObject): number {
  return isJsonObject(spec) && typeof spec["replicas"] === "number" ? spec["replicas"] : 0;
}
