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

/** Replicas of a Scale whose object has none: Kubernetes' marker, the smallest number that a Scale can express. */
const UNSAID = -(2 ** 31);

/** Reads and writes objects of a kind as `Scale`s (apiextensions' ScaleREST). */
export class Scaling {
  readonly #fields: ScaleFields;
  readonly #replicas: () => ReplicasFields;

  /** @param versions all versions of the kind: owners of the replicas may have used another version */
  constructor(definition: ResourceDefinition, paths: ScalePaths, versions?: KindVersions) {
    this.#fields = scaleFields(paths);
    this.#replicas = perVersions(versions, () => replicasFields(definition, versions));
  }

  /** Returns the Scale of an object. @throws ApiError 500 when the object has no desired replicas */
  show(object: KubeObject): KubeObject {
    const { path } = this.#fields.wanted;
    if (this.#wanted(object) === undefined)
      throw ApiError.internalError(`the spec replicas field ${quote(path)} does not exist`);
    return this.#scale(object, 0);
  }

  /** Returns the Scale of an object that was just written; missing replicas count as 0. */
  showWritten(object: KubeObject): KubeObject {
    return this.#scale(object, 0);
  }

  /** Returns the Scale of an object for a change, with the owners of its replicas. */
  draft(object: KubeObject): KubeObject {
    const owners = managedFieldsOfScale(object.metadata.managedFields, this.#replicas());
    return withOwners(this.#scale(object, UNSAID), owners);
  }

  /**
   * Applies a Scale to its object, in place: the desired replicas, their owners, and the uid and resource version that the
   * write expects.
   *
   * @throws ApiError 400 when the Scale has no replicas
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

  /** Returns a Scale as Go encodes it: without replicas when they are 0. @param unsaid replicas of an object that has none */
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

/** Returns the path of the replicas in each version. */
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

/** Reports replicas of the wrong type as a server error: the client did not cause it. */
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
