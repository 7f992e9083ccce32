import { type ObjectOf, quote } from "@virtual-workspaces/apimachinery";
import { type Client, orElse, type ReconcileResult, type Store } from "@virtual-workspaces/client";
import type { SecretContent } from "../kinds/secret.ts";
import { DISCOVERED_LABEL, namespaceOf, providerOf } from "../kinds/names.ts";
import { Space } from "../kinds/space.ts";
import type { FollowedSpaces } from "../provider/followed-spaces.ts";
import type { PhysicalSpace } from "../provider/provider.ts";
import { AccessSecrets, importedAccess } from "./access-secrets.ts";
import type { KnownProviders } from "./listers.ts";
import { type Behind, behindOf, isAtProvider, isHeld, type KnownSpaces } from "./listers.ts";
import type { ProviderRuns } from "./provider-runs.ts";
import { hasAccess, isProvided, noAccess, notProvided, type Outcome, statusOf } from "./space-status.ts";
import { rowOf, type Situation } from "./table.ts";
import { type Found, Work } from "./space-steps.ts";

/** What Spaces are reconciled by. */
export interface SpaceReconcilerOptions {
  readonly client: Client;
  readonly spaces: KnownSpaces;
  readonly providers: KnownProviders;
  readonly runs: ProviderRuns;
  readonly secrets: Store<ObjectOf<SecretContent>>;
  readonly now: () => Date;
}

/** Does of one Space at a time what the table says. */
export class SpaceReconciler {
  readonly #options: SpaceReconcilerOptions;
  readonly #access: AccessSecrets;

  constructor(options: SpaceReconcilerOptions) {
    this.#options = options;
    this.#access = new AccessSecrets(options.client, options.secrets);
  }

  /** @throws what the provider, or the management cluster, throws: it is tried again */
  async reconcile(space: Space, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    if (space.spec.Type === "imported") return this.#import(space, signal);
    const behind = behindOf(space);
    if (behind === undefined) return this.#provide(space, signal);
    const found = await this.#find(space, behind, signal);
    if (space.metadata.deletionTimestamp === undefined) {
      const obstacle = obstacleOf(space, this.#options.spaces.ownerOf(behind), found.space);
      if (obstacle !== undefined) {
        await this.#say(space, { phase: "NotReady", provided: notProvided(obstacle.reason, obstacle.message) }, signal);
        return undefined;
      }
    }
    const row = rowOf(this.#situationOf(space, found));
    const after = await new Work(this.#options.client, this.#access, { space, found, row, signal }).do();
    if (after.space !== undefined) await this.#say(after.space, after.outcome, signal);
    if (after.error !== undefined) throw after.error;
    return after.again === undefined ? undefined : { requeueAfter: after.again };
  }

  /** As its provider says; where it is not there any more, as that says now: a list may be late. */
  async #find({ metadata, status }: Space, behind: Behind, signal: AbortSignal): Promise<Found> {
    const run = this.#options.runs.get(behind.provider);
    const followed = run?.below(behind.parent);
    const seen = followed?.get(behind.name);
    const isMissed = seen === undefined && followed?.isKnown === true && status?.spaceID !== undefined;
    const isLeaving = metadata.deletionTimestamp !== undefined;
    if (!isMissed || isLeaving) return { behind, calls: run?.calls, followed, space: seen };
    const space = await followed.refresh(behind.name, signal);
    if (space !== undefined) followed.doubt();
    return { behind, calls: run?.calls, followed, space };
  }

  #situationOf(space: Space, { behind, followed, space: seen }: Found): Situation {
    const { metadata, spec, status } = space;
    const { providers } = this.#options;
    const deleting = metadata.deletionTimestamp !== undefined;
    const provider = deleting ? providers.leaving(behind.provider) : providers.get(behind.provider);
    return {
      type: spec.Type ?? "managed",
      deleting,
      seen: provider === undefined ? "unprovided" : seenOf(followed, seen),
      was: status?.spaceID !== undefined,
      answered: (status?.Phase ?? "Initializing") !== "Initializing",
      held: isHeld(space),
      discovered: metadata.labels?.[DISCOVERED_LABEL] === "true",
      wanted: behind.name.startsWith(provider?.spec.SpacePrefixForDiscovery ?? ""),
    };
  }

  /** Says who provides a Space that does not say so itself. */
  async #provide(space: Space, signal: AbortSignal): Promise<undefined> {
    const { name = "", namespace = "", deletionTimestamp } = space.metadata;
    if (deletionTimestamp !== undefined) return undefined;
    const { providers } = this.#options;
    const own = providerOf(namespace);
    const provider = own !== undefined && providers.get(own) !== undefined ? own : providers.default?.metadata.name;
    if (provider === undefined) {
      await this.#say(
        space,
        { phase: "NotReady", provided: notProvided(NO_PROVIDER.reason, NO_PROVIDER.message) },
        signal,
      );
      return undefined;
    }
    const { resourceVersion = "" } = space.metadata;
    const patch = { metadata: { resourceVersion }, spec: { SpaceProviderDescName: provider } };
    await this.#options.client.resource(Space).in(namespace).mergePatch(name, patch, { signal });
    return undefined; // it is told of again
  }

  async #import(space: Space, signal: AbortSignal): Promise<undefined> {
    if (space.metadata.deletionTimestamp !== undefined) return undefined;
    const { references, problem } = importedAccess(space, this.#options.secrets);
    const access = problem === undefined ? hasAccess : noAccess("AccessMissing", problem);
    const row = rowOf({
      ...{ type: "imported", deleting: false, seen: problem === undefined ? "ready" : "absent" },
      ...{ was: false, answered: false, held: false, discovered: false, wanted: false },
    });
    const id = space.metadata.uid;
    await this.#say(space, { phase: row.phase, provided: isProvided, access, references, id }, signal);
    return undefined;
  }

  async #say(space: Space, outcome: Outcome, signal: AbortSignal): Promise<void> {
    const status = statusOf(space, outcome, this.#options.now());
    if (status === undefined) return;
    const { name = "", namespace = "", resourceVersion = "" } = space.metadata;
    const place = this.#options.client.resource(Space).in(namespace).status;
    const { inClusterSecretRef = null, externalSecretRef = null } = status;
    const patch = { metadata: { resourceVersion }, status: { ...status, inClusterSecretRef, externalSecretRef } };
    await place.mergePatch(name, patch, { signal }).catch(orElse<unknown>(404, () => undefined));
  }
}

function seenOf(followed: FollowedSpaces | undefined, space: PhysicalSpace | undefined): Situation["seen"] {
  if (space !== undefined) return space.phase === "Ready" ? "ready" : "initializing";
  return followed?.isKnown === true ? "absent" : "unknown";
}

/** Why a Space cannot be what it says. */
interface Obstacle {
  readonly reason: "NoProvider" | "NameTaken" | "WrongNamespace";
  /** Names the field and the remedy. */
  readonly message: string;
}

const NO_PROVIDER: Obstacle = {
  reason: "NoProvider",
  message:
    'spec.SpaceProviderDescName: there is no default provider: name one, or annotate one with space.kubestellar.io/is-default-provider: "true"',
};

/**
 * What stands in the way of a Space that somebody provides. Whoever may make Spaces in a namespace of their own is not to have what others have made
 * by naming it: that is for whoever may make Spaces in the provider's namespace.
 *
 * @param owner whose what is behind it is
 */
function obstacleOf(space: Space, owner: Space | undefined, seen: PhysicalSpace | undefined): Obstacle | undefined {
  const { metadata, spec } = space;
  const { SpaceProviderDescName: provider = "" } = spec;
  if (owner !== undefined && owner.metadata.uid !== metadata.uid)
    return {
      reason: "NameTaken",
      message: `metadata.name: the provider ${quote(provider)} has a space of this name, which is that of the Space ${owner.metadata.namespace}/${owner.metadata.name}: take another name`,
    };
  if (isAtProvider(space)) return undefined;
  if (spec.Type === "unmanaged")
    return {
      reason: "WrongNamespace",
      message: `metadata.namespace: Spaces that are unmanaged are in the namespace of their provider: make it in ${namespaceOf(provider)}`,
    };
  if (seen !== undefined && !isHeld(space))
    return {
      reason: "NameTaken",
      message: `metadata.name: the provider ${quote(provider)} has a space of this name that was not made for this Space: take another name, or take it over by a Space in ${namespaceOf(provider)}`,
    };
  return undefined;
}
