import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import { type LabelSelector, labelSelectorFromObject } from "@virtual-workspaces/apimachinery/selectors";
import { type Controller, controller, type ReconcileFailure, type ReconcileResult } from "@virtual-workspaces/client";
import { type ClusterCachedResource as Cached, ClusterCachedResource, clusterOf } from "@virtual-workspaces/kcp";
import { markFalse, markTrue } from "@virtual-workspaces/kcp/conditions";
import {
  CACHED_KIND_ANNOTATION,
  CACHED_RESOURCE_FINALIZER,
  CACHED_SCOPE_ANNOTATION,
} from "@virtual-workspaces/kcp/names";
import type { Known } from "../../controllers/shard-controllers.ts";
import { follow } from "../../controllers/sources.ts";
import type { CrdContent } from "../../crds/definition/definition.ts";
import type { ShardContext, ShardController } from "../../state/context.ts";
import type { Informer } from "../../state/informers/informer.ts";
import { modify, read } from "../../state/modify.ts";
import type { StoredKind } from "../../state/stored-kinds.ts";
import type { Identities, SecretContent } from "../exports/identity.ts";
import { type CachedKinds, cachedResourceOf, resourceText } from "./cached-kinds.ts";
import { ObjectCounts } from "./object-counts.ts";

/** Options of {@link CachedResourceController}. */
export interface CachedResourceControllerOptions {
  readonly shard: Pick<ShardContext, "clock" | "feed" | "objects" | "state">;
  readonly secrets: Informer<SecretContent>;
  readonly crds: Informer<CrdContent>;
  readonly identities: Identities;
  readonly kinds: CachedKinds;
  readonly known: Known;
  readonly now: () => Date;
  readonly onError: (failure: ReconcileFailure) => void;
}

type Status = NonNullable<Cached["status"]>;

const VALID = "ResourceValid";
const IDENTITY = "IdentityValid";
const STARTED = "ReplicationStarted";

/**
 * Creates the identity of ClusterCachedResources, checks their resource and counts its objects (kcp's
 * `kcp-clustercachedresources`). There are no copies: the replication view reads the objects themselves, so that both numbers are
 * equal.
 */
export class CachedResourceController implements ShardController {
  readonly started: Promise<void>;
  readonly #options: CachedResourceControllerOptions;
  readonly #controller: Controller<Cached>;
  readonly #counts: ObjectCounts;
  readonly #stack = new DisposableStack();

  constructor(options: CachedResourceControllerOptions) {
    const { shard, secrets, crds, known, onError } = options;
    const { cachedResources, apiBindings } = shard.state;
    this.#options = options;
    this.#controller = controller<Cached>({
      name: "clustercachedresource",
      clock: shard.clock,
      sources: [{ informer: cachedResources }],
      reconcile: known(cachedResources, (key, { object, signal }) => {
        if (object !== undefined) return this.#reconcile(key, signal);
        this.#counts.forget(key);
        return undefined;
      }),
      onError,
    });
    this.started = this.#controller.started;
    this.#counts = this.#stack.use(new ObjectCounts(shard, (key) => this.#controller.add(key)));
    this.#stack.use(
      follow(secrets, (_, { cluster, namespace, name }) => {
        for (const key of cachedResources.store.keysBy("secret", `${cluster}/${namespace}/${name}`))
          this.#controller.add(key);
      }),
    );
    const changed = (_: unknown, { cluster }: ObjectKey): void => {
      for (const key of cachedResources.store.keysIn(cluster)) this.#controller.add(key);
    };
    this.#stack.use(follow(crds, changed));
    this.#stack.use(follow(apiBindings, changed, ({ metadata, status }) => [metadata.uid, status?.boundResources]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stack.dispose();
    await this.#controller.stop();
  }

  async #reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { identities, shard } = this.#options;
    const all = shard.objects.of(ClusterCachedResource);
    const found = await read(all, key);
    if (found === undefined) return undefined;
    if (found.metadata.deletionTimestamp !== undefined) {
      await this.#leave(key);
      return undefined;
    }
    let secretRef = found.spec.identity?.secretRef;
    let failed: unknown;
    const status: Status = { ...found.status, phase: found.status?.phase ?? "Initializing" };
    const kind = this.#checked(status, found);
    try {
      if (kind !== undefined) {
        secretRef ??= await identities.secretFor(key);
        this.#judge(status, await identities.hashOf(secretRef, key.cluster));
      }
    } catch (error) {
      failed = error;
      const why = `Error creating identity secret: ${error instanceof Error ? error.message : String(error)}`;
      this.#fail(status, { type: IDENTITY, reason: "IdentityGenerationFailed", message: why });
    }
    const counted = kind && (await this.#counts.of(key, { objects: kind.objects, labels: labelsOf(found) }, signal));
    if (counted === undefined) this.#counts.forget(key);
    else if (holds(status, IDENTITY)) this.#start(status, counted.count);
    await modify(all, key, (current) => {
      if (current.metadata.resourceVersion !== found.metadata.resourceVersion) return undefined;
      const { finalizers = [] } = current.metadata;
      const annotations = { ...current.metadata.annotations, ...(kind && annotationsOf(kind)) };
      const metadata = {
        ...current.metadata,
        annotations,
        finalizers: finalizers.includes(CACHED_RESOURCE_FINALIZER)
          ? finalizers
          : [...finalizers, CACHED_RESOURCE_FINALIZER],
      };
      const spec = secretRef === undefined ? current.spec : { ...current.spec, identity: { secretRef } };
      return { ...current, metadata, spec, status };
    });
    if (failed !== undefined) throw failed;
    return counted?.again === undefined ? undefined : { requeueAfter: counted.again };
  }

  /** Returns the kind, or sets why there is none. */
  #checked(status: Status, found: Cached): StoredKind | undefined {
    const resource = cachedResourceOf(found);
    const kind = this.#options.kinds.of(clusterOf(found), resource);
    if (kind === undefined) {
      const version = resource.version === "" ? "" : `version ${resource.version} of `;
      const message = `The workspace does not store ${version}${resourceText(resource)}: create its CustomResourceDefinition, or bind its APIExport`;
      this.#fail(status, { type: VALID, reason: "NoResources", message });
      status.resourceCounts = { cache: 0, local: 0 };
      return undefined;
    }
    if (kind.definition.scope === "Cluster") return kind;
    const message = `Resource ${resourceText(resource)} is not cluster-scoped`;
    this.#fail(status, { type: VALID, reason: "ResourceNotClusterScoped", message });
    return undefined;
  }

  #judge(status: Status, hash: string | { readonly reason: string; readonly message: string }): void {
    if (typeof hash !== "string") {
      this.#fail(status, { type: IDENTITY, ...hash });
      return;
    }
    status.identityHash ??= hash;
    if (status.identityHash === hash) {
      status.conditions = markTrue(status.conditions, IDENTITY, this.#options.now());
      return;
    }
    const message = `hash mismatch: identity secret hash "${hash}" must match status.identityHash "${status.identityHash}"`;
    this.#fail(status, { type: IDENTITY, reason: "IdentityVerificationFailed", message });
  }

  #start(status: Status, count: number): void {
    const { now } = this.#options;
    status.resourceCounts = { cache: count, local: count };
    for (const type of [VALID, STARTED]) status.conditions = markTrue(status.conditions, type, now());
    status.phase = "Ready";
  }

  /** Without copies nothing has to be deleted; watches see kcp's phases all the same. */
  async #leave(key: ObjectKey): Promise<void> {
    const all = this.#options.shard.objects.of(ClusterCachedResource);
    this.#counts.forget(key);
    const isHeld = ({ metadata }: Cached): boolean => metadata.finalizers?.includes(CACHED_RESOURCE_FINALIZER) === true;
    await modify(all, key, (current) => {
      if (!isHeld(current) || current.status?.phase === "Deleting" || current.status?.phase === "Deleted")
        return undefined;
      const status: Status = { ...current.status, phase: "Deleting" };
      this.#fail(status, { type: VALID, reason: "Deleting", message: "Published resource deleting" });
      return { ...current, status };
    });
    await modify(all, key, (current) => {
      if (!isHeld(current)) return undefined;
      const { local = 0 } = current.status?.resourceCounts ?? {};
      const status: Status = { ...current.status, phase: "Deleted", resourceCounts: { cache: 0, local } };
      return { ...current, status };
    });
    await modify(all, key, (current) => {
      const finalizers = current.metadata.finalizers?.filter((one) => one !== CACHED_RESOURCE_FINALIZER) ?? [];
      return isHeld(current) ? { ...current, metadata: { ...current.metadata, finalizers } } : undefined;
    });
  }

  #fail(status: Status, fault: { readonly type: string; readonly reason: string; readonly message: string }): void {
    status.conditions = markFalse(status.conditions, { ...fault, severity: "Error" }, this.#options.now());
  }
}

function holds({ conditions }: Status, type: string): boolean {
  return conditions?.some((one) => one.type === type && one.status === "True") === true;
}

/** Admission has checked the selector. */
function labelsOf({ spec }: Cached): LabelSelector {
  return labelSelectorFromObject((spec.labelSelector ?? {}) as Parameters<typeof labelSelectorFromObject>[0]);
}

function annotationsOf({ definition: { kind, scope } }: StoredKind): Readonly<Record<string, string>> {
  return { [CACHED_KIND_ANNOTATION]: kind, [CACHED_SCOPE_ANNOTATION]: scope };
}
