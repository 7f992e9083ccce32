import { type ObjectOf, quote } from "@virtual-workspaces/apimachinery";
import type { Client, ReconcileResult, Store } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { isConditionFalse } from "@virtual-workspaces/kcp/conditions";
import { type AccessScope, DISCOVERED_LABEL, namespaceOf, providerOf } from "../kinds/names.ts";
import type { SecretContent } from "../kinds/secret.ts";
import { REACHED, Space, type SpacePhase } from "../kinds/space.ts";
import type { PhysicalSpace } from "../provider/provider.ts";
import type { ProviderReflector } from "../provider/provider-reflector.ts";
import { AccessSecrets, importedAccess } from "./access-secrets.ts";
import type { ProviderLister } from "./listers.ts";
import { isAtProvider, isHeld, type PhysicalSpaceKey, physicalSpaceKeyOf, type SpaceLister } from "./listers.ts";
import type { ProviderRuns } from "./provider-runs.ts";
import type { SpaceProbes } from "./space-probes.ts";
import {
  hasAccess,
  isProvided,
  isReached,
  noAccess,
  notProvided,
  notReached,
  type SpaceOutcome,
  statusOf,
} from "./space-status.ts";
import { type ProvidedSpace, SpaceSteps } from "./space-steps.ts";
import { type Row, rowOf, type Situation } from "./table.ts";

/** Options of {@link SpaceReconciler}. */
export interface SpaceReconcilerOptions {
  readonly client: Client;
  readonly spaces: SpaceLister;
  readonly providers: ProviderLister;
  readonly runs: ProviderRuns;
  readonly secrets: Store<ObjectOf<SecretContent>>;
  readonly probes: SpaceProbes;
  /** Network of the manager, which selects the access of an imported Space. */
  readonly scope: AccessScope;
  readonly now: () => Date;
}

/** Runs the steps of the state table for one Space at a time. */
export class SpaceReconciler {
  readonly #options: SpaceReconcilerOptions;
  readonly #access: AccessSecrets;

  constructor(options: SpaceReconcilerOptions) {
    this.#options = options;
    this.#access = new AccessSecrets(options.client, options.secrets);
  }

  /** @throws errors of the provider or the management cluster; the caller retries */
  async reconcile(space: Space, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    if (space.spec.Type === "imported") return this.#import(space, signal);
    const key = physicalSpaceKeyOf(space);
    if (key === undefined) return this.#setProvider(space, signal);
    const found = await this.#find(space, key, signal);
    if (space.metadata.deletionTimestamp === undefined) {
      const obstacle = obstacleOf(space, this.#options.spaces.ownerOf(key), found.space);
      if (obstacle !== undefined) {
        await this.#updateStatus(
          space,
          { phase: "NotReady", provided: notProvided(obstacle.reason, obstacle.message) },
          signal,
        );
        return undefined;
      }
    }
    const row = rowOf(this.#situationOf(space, found));
    const after = await new SpaceSteps(this.#options.client, this.#access, { space, found, row, signal }).run();
    if (after.space !== undefined) await this.#updateStatus(after.space, after.outcome, signal);
    if (after.error !== undefined) throw after.error;
    return after.requeueAfter === undefined ? undefined : { requeueAfter: after.requeueAfter };
  }

  /** Returns the state in the provider's cache. If the space is missing there, reads it from the provider, since the cache may be stale. */
  async #find({ metadata, status }: Space, key: PhysicalSpaceKey, signal: AbortSignal): Promise<ProvidedSpace> {
    const run = this.#options.runs.get(key.provider);
    const reflector = run?.below(key.parent);
    const seen = reflector?.get(key.name);
    const isMissed = seen === undefined && reflector?.isKnown === true && status?.spaceID !== undefined;
    const isLeaving = metadata.deletionTimestamp !== undefined;
    const isProviderLeaving = this.#options.providers.leaving(key.provider)?.metadata.deletionTimestamp !== undefined;
    const found = { key, calls: run?.calls, reflector, isProviderLeaving };
    if (!isMissed || isLeaving) return { ...found, space: seen };
    const space = await reflector.refresh(key.name, signal);
    if (space !== undefined) reflector.relist();
    return { ...found, space };
  }

  #situationOf(space: Space, { key, reflector, space: seen }: ProvidedSpace): Situation {
    const { metadata, spec, status } = space;
    const { providers } = this.#options;
    const deleting = metadata.deletionTimestamp !== undefined;
    const provider = deleting ? providers.leaving(key.provider) : providers.get(key.provider);
    return {
      type: spec.Type ?? "managed",
      deleting,
      seen: provider === undefined ? "unprovided" : seenOf(reflector, seen),
      was: status?.spaceID !== undefined,
      answered: (status?.Phase ?? "Initializing") !== "Initializing",
      held: isHeld(space),
      discovered: metadata.labels?.[DISCOVERED_LABEL] === "true",
      wanted: key.name.startsWith(provider?.spec.SpacePrefixForDiscovery ?? ""),
    };
  }

  /** Sets the provider of a Space that names none. */
  async #setProvider(space: Space, signal: AbortSignal): Promise<undefined> {
    const { name = "", namespace = "", deletionTimestamp } = space.metadata;
    if (deletionTimestamp !== undefined) return undefined;
    const { providers } = this.#options;
    const own = providerOf(namespace);
    const provider = own !== undefined && providers.get(own) !== undefined ? own : providers.default?.metadata.name;
    if (provider === undefined) {
      await this.#updateStatus(
        space,
        { phase: "NotReady", provided: notProvided(NO_PROVIDER.reason, NO_PROVIDER.message) },
        signal,
      );
      return undefined;
    }
    const { resourceVersion = "" } = space.metadata;
    const patch = { metadata: { resourceVersion }, spec: { SpaceProviderDescName: provider } };
    await this.#options.client.resource(Space).in(namespace).mergePatch(name, patch, { signal });
    return undefined; // The update triggers another reconciliation.
  }

  async #import(space: Space, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    if (space.metadata.deletionTimestamp !== undefined) return undefined;
    const { probes, scope, secrets } = this.#options;
    const { references, accesses, problem } = importedAccess(space, secrets);
    const found = accesses[scope] ?? accesses.external ?? accesses.incluster;
    if (problem !== undefined || found === undefined) {
      const access = noAccess("AccessMissing", problem ?? "");
      await this.#updateStatus(
        space,
        { phase: importedPhase("absent"), provided: isProvided, access, references },
        signal,
      );
      return undefined;
    }
    const { Phase, accessDigest } = space.status ?? {};
    const common = { provided: isProvided, access: hasAccess, references };
    let current = space;
    if (accessDigest !== found.digest) {
      // A Space that is Ready stays so during the attempt with its new access.
      const isNew = Phase !== "Ready" && !isConditionFalse(space.status?.conditions, REACHED);
      if (isNew) {
        const connecting = notReached("Connecting", "the manager is connecting to the space", "Info");
        const phase = importedPhase("initializing", Phase);
        current = await this.#updateStatus(space, { ...common, phase, reached: connecting }, signal);
      }
      const probe = await probes.probe(current, found, signal);
      if (probe.state === "waiting") return undefined;
      if (probe.state === "failed") {
        const { reason, message } = probe.problem;
        const outcome = {
          ...common,
          phase: importedPhase("initializing", "NotReady"),
          reached: notReached(reason, message),
        };
        await this.#updateStatus(current, outcome, signal);
        return { requeueAfter: probe.retryAfter };
      }
    }
    const reached = { reached: isReached, accessDigest: found.digest, id: space.metadata.uid };
    await this.#updateStatus(current, { ...common, ...reached, phase: importedPhase("ready") }, signal);
    return undefined;
  }

  /** @returns the Space after the update */
  async #updateStatus(space: Space, outcome: SpaceOutcome, signal: AbortSignal): Promise<Space> {
    const status = statusOf(space, outcome, this.#options.now());
    if (status === undefined) return space;
    const { name = "", namespace = "", resourceVersion = "" } = space.metadata;
    const resource = this.#options.client.resource(Space).in(namespace).status;
    const { inClusterSecretRef = null, externalSecretRef = null } = status;
    const patch = { metadata: { resourceVersion }, status: { ...status, inClusterSecretRef, externalSecretRef } };
    return await resource.mergePatch(name, patch, { signal }).catch(onCode(404, () => space));
  }
}

/** Returns the phase of an imported Space. @param before previous phase */
function importedPhase(seen: Situation["seen"], before: SpacePhase = "Initializing"): Row["phase"] {
  const rest = { deleting: false, was: false, held: false, discovered: false, wanted: false } as const;
  return rowOf({ ...rest, type: "imported", seen, answered: before !== "Initializing" }).phase;
}

function seenOf(reflector: ProviderReflector | undefined, space: PhysicalSpace | undefined): Situation["seen"] {
  if (space !== undefined) return space.phase === "Ready" ? "ready" : "initializing";
  return reflector?.isKnown === true ? "absent" : "unknown";
}

/** Reason why a Space cannot be provided. */
interface Obstacle {
  readonly reason: "NoProvider" | "NameTaken" | "WrongNamespace";
  /** Message with the field and the remedy. */
  readonly message: string;
}

const NO_PROVIDER: Obstacle = {
  reason: "NoProvider",
  message:
    'spec.SpaceProviderDescName: no default provider: name one, or annotate one with space.kubestellar.io/is-default-provider: "true"',
};

/**
 * Returns the obstacle of a Space with a provider. Security: users who may create Spaces in their own namespace cannot take over another
 * user's physical space by its name. Only users who may create Spaces in the provider's namespace can.
 *
 * @param owner Space that owns the physical space
 */
function obstacleOf(space: Space, owner: Space | undefined, seen: PhysicalSpace | undefined): Obstacle | undefined {
  const { metadata, spec } = space;
  const { SpaceProviderDescName: provider = "" } = spec;
  if (owner !== undefined && owner.metadata.uid !== metadata.uid)
    return {
      reason: "NameTaken",
      message: `metadata.name: the space with this name of the provider ${quote(provider)} belongs to the Space ${owner.metadata.namespace}/${owner.metadata.name}: use another name`,
    };
  if (isAtProvider(space)) return undefined;
  if (spec.Type === "unmanaged")
    return {
      reason: "WrongNamespace",
      message: `metadata.namespace: an unmanaged Space must be in the namespace of its provider: create it in ${namespaceOf(provider)}`,
    };
  if (seen !== undefined && !isHeld(space))
    return {
      reason: "NameTaken",
      message: `metadata.name: the provider ${quote(provider)} already has a space with this name: use another name, or adopt the space with a Space in ${namespaceOf(provider)}`,
    };
  return undefined;
}
