import {
  ApiError,
  fieldInvalid,
  type KubeObject,
  type ObjectOf,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import { everyField, everyLabel } from "@virtual-workspaces/apimachinery/selectors";
import { type NamedSubresource, Resource, type SubresourceWrite } from "@virtual-workspaces/framework";
import {
  decodeObject,
  type Encoded,
  type Scope,
  type Storage,
  type WriteOptions,
} from "@virtual-workspaces/framework/storage";
import { AGE, type BuiltInKind, type Columns, STANDARD_VERBS } from "./built-in-kind.ts";
import { conditions, object, text, texts } from "./descriptions.ts";
import { countOf, finalizerProblem, finalizerProblems, membersOf, specOf, textOf } from "./problems.ts";

/** Fields of a Namespace. */
export interface NamespaceContent {
  spec?: { finalizers?: string[] };
  status?: { phase?: "Active" | "Terminating"; conditions?: NamespaceCondition[] };
}

/** Condition of the deletion of a Namespace. */
export interface NamespaceCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** Label with the namespace's own name, for selectors. */
const NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name";
/** Finalizer that keeps a namespace until its content is deleted. */
export const NAMESPACE_FINALIZER = "kubernetes";

/** Namespace that the server creates. */
interface NewNamespace {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly finalizers: string[] };
  readonly status: { readonly phase: "Active" };
}

/** Returns a namespace as the API would create it, with the finalizer that deletes its content first. */
export function newNamespace(name: string, annotations?: Readonly<Record<string, string>>): NewNamespace {
  return {
    metadata: { labels: { [NAMESPACE_NAME_LABEL]: name }, ...(annotations && { annotations }) },
    spec: { finalizers: [NAMESPACE_FINALIZER] },
    status: { phase: "Active" },
  };
}

function label(namespace: KubeObject): void {
  const { metadata } = namespace;
  if (metadata.name === undefined) return;
  namespace.metadata = { ...metadata, labels: { ...metadata.labels, [NAMESPACE_NAME_LABEL]: metadata.name } };
}

/** Resets fields that clients cannot write: spec finalizers except through `/finalize`, the phase except through `/status`. */
function prepare(namespace: KubeObject, before: KubeObject | undefined): void {
  label(namespace);
  if (before !== undefined) {
    if (before["spec"] === undefined) delete namespace["spec"];
    else namespace["spec"] = before["spec"];
    return;
  }
  const { finalizers } = specOf(namespace);
  const own = Array.isArray(finalizers) ? finalizers : [];
  namespace["spec"] = { finalizers: own.includes(NAMESPACE_FINALIZER) ? own : [...own, NAMESPACE_FINALIZER] };
  namespace["status"] = { phase: "Active" };
}

function problems(namespace: KubeObject, before: KubeObject | undefined, subresource: string): StatusCause[] {
  if (before === undefined) return [...finalizerProblems(namespace.metadata), ...specFinalizerProblems(namespace)];
  if (subresource !== "status") return [];
  const phase = textOf(membersOf(namespace["status"])["phase"]);
  const deleting = namespace.metadata.deletionTimestamp !== undefined;
  if (phase === (deleting ? "Terminating" : "Active")) return [];
  const rule = deleting
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  return [fieldInvalid("status.Phase", phase, rule)];
}

/** Validates the finalizers of the spec. */
function specFinalizerProblems(namespace: KubeObject): StatusCause[] {
  const { finalizers } = specOf(namespace);
  const own = Array.isArray(finalizers) ? finalizers : [];
  return own.flatMap((finalizer) => finalizerProblem(textOf(finalizer), "spec.finalizers"));
}

const isHeld = (namespace: KubeObject): boolean => countOf(specOf(namespace)["finalizers"]) > 0;

function marked(namespace: KubeObject): void {
  // Kubernetes omits the grace period of a namespace.
  const { deletionGracePeriodSeconds: _none, ...metadata } = namespace.metadata;
  namespace.metadata = metadata;
  namespace["status"] = { ...membersOf(namespace["status"]), phase: "Terminating" };
}

const columns: Columns = {
  Status: { type: "string", jsonPath: ".status.phase", description: "The status of the namespace" },
  Age: AGE,
};

/**
 * `v1` Namespace. A deleted one stays, with the phase Terminating, until its `spec.finalizers` are removed through
 * `/finalize`.
 */
export const Namespace: Resource<NamespaceContent> = new Resource<NamespaceContent>({
  group: "",
  version: "v1",
  kind: "Namespace",
  scope: "Cluster",
  shortNames: ["ns"],
  description: "Namespace provides a scope for Names. Use of multiple namespaces is optional.",
  schema: {
    type: "object",
    properties: {
      spec: object("Finalizers of the namespace.", {
        finalizers: texts("Work before the namespace is deleted. Set at creation, and through /finalize."),
      }),
      status: object("Current state of the namespace.", {
        phase: text("Active, or Terminating during deletion."),
        conditions: conditions("Conditions of the deletion."),
      }),
    },
  },
  columns,
  selectableFields: [".status.phase"],
  strategy: {
    names: "label",
    generation: false,
    unconditionalUpdate: true,
    defaults: label,
    prepare,
    problems,
    isHeld,
    marked,
  },
});

export const namespaces: BuiltInKind = {
  resource: Namespace,
  verbs: STANDARD_VERBS.filter((verb) => verb !== "deletecollection"),
};

type Finalize = SubresourceWrite<ObjectOf<NamespaceContent>, NamespaceContent>;

/**
 * Serves `/finalize` of namespaces, which writes only `spec.finalizers`. Removing the last one deletes a terminating
 * namespace. Security: a user who may update `namespaces/finalize` can delete a namespace before its content.
 *
 * @param storage storage of the namespaces
 */
export function finalizeNamespace(
  storage: Storage<ObjectOf<NamespaceContent>>,
): NamedSubresource<ObjectOf<NamespaceContent>, NamespaceContent> {
  return {
    kind: Namespace,
    update: async (request) => {
      const { object, dryRun } = request;
      const next = finalized(request);
      const causes = specFinalizerProblems(next);
      if (causes.length > 0) throw ApiError.invalid({ kind: Namespace, name: request.key.name, causes });
      const options = optionsOf(request);
      if (isReleased(next)) {
        const { resourceVersion } = object.metadata;
        const preconditions = resourceVersion === undefined ? {} : { preconditions: { resourceVersion } };
        if (!dryRun) await storage.delete?.(scopeOf(request), request.key, { ...options, ...preconditions });
        return next;
      }
      return dryRun ? next : plain(await storage.update?.(scopeOf(request), next, options), next);
    },
  };
}

function finalized({ object, body, key }: Finalize): ObjectOf<NamespaceContent> {
  const { uid, resourceVersion } = body.metadata;
  const { metadata } = object;
  const conflict = (why: string): ApiError =>
    ApiError.conflict({ group: "", resource: Namespace.plural }, key.name, why);
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(`Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ""}`);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict("the object has been modified; please apply your changes to the latest version and try again");
  const { finalizers = [] } = body.spec ?? {};
  return { ...object, spec: finalizers.length === 0 ? {} : { finalizers } };
}

function isReleased({ metadata, ...namespace }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  return countOf(specOf({ metadata, ...namespace } as KubeObject)["finalizers"]) === 0;
}

function scopeOf({ params, key, user }: Finalize): Scope {
  return { params, cluster: key.cluster, namespace: "", labels: everyLabel, fields: everyField, identity: user };
}

function optionsOf({ user, signal, requestId, warn, dryRun, fieldManager, fieldValidation }: Finalize): WriteOptions {
  return { user, signal, requestId, warn, dryRun, fieldManager, fieldValidation };
}

function plain<T extends KubeObject>(written: T | Encoded | undefined, otherwise: T): T {
  if (written === undefined) return otherwise;
  return "metadata" in written ? (written as T) : (decodeObject(written as Encoded) as T);
}
