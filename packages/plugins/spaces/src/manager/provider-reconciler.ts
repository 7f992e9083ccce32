import { isDeepStrictEqual } from "node:util";
import {
  dnsLabelProblems,
  type KindReference,
  nameProblems,
  type ObjectOf,
  quote,
} from "@virtual-workspaces/apimachinery";
import type { Client, Store } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import { type Condition, type ConditionState, READY_CONDITION, setCondition } from "@virtual-workspaces/kcp/conditions";
import {
  DISCOVERED_LABEL,
  EXTERNAL_NAME_ANNOTATION,
  labelOf,
  namespaceOf,
  PROVIDER_FINALIZER,
  PROVIDER_LABEL,
} from "../kinds/names.ts";
import type { SecretContent } from "../kinds/secret.ts";
import { Space } from "../kinds/space.ts";
import { SpaceProviderDesc, type SpaceProviderDescStatus } from "../kinds/space-provider-desc.ts";
import type { SpaceProviderType } from "../provider/provider.ts";
import { isHeld, type SpaceLister } from "./listers.ts";
import type { ProviderRun, ProviderRuns } from "./provider-runs.ts";

/** What providers are reconciled by. */
export interface ProviderReconcilerOptions {
  readonly client: Client;
  readonly types: Readonly<Record<string, SpaceProviderType>>;
  readonly spaces: SpaceLister;
  readonly runs: ProviderRuns;
  readonly secrets: Store<ObjectOf<SecretContent>>;
  readonly now: () => Date;
}

/** The longest name of a Space: its Secrets' names are longer. */
const LONGEST = 253 - "incluster-".length;
/** Of the names that no Space can have so many are told. */
const MOST_NAMED = 5;

/** Opens providers, makes Spaces of what they have, and takes back what was made for them when they go. */
export class ProviderReconciler {
  readonly #options: ProviderReconcilerOptions;

  constructor(options: ProviderReconcilerOptions) {
    this.#options = options;
  }

  /** @throws what the management cluster, or the type of provider, throws: it is tried again */
  async reconcile(name: string, provider: SpaceProviderDesc | undefined, signal: AbortSignal): Promise<void> {
    if (provider === undefined) return this.#options.runs.close(name);
    if (provider.metadata.deletionTimestamp !== undefined) return this.#finalize(provider, signal);
    if (provider.metadata.finalizers?.includes(PROVIDER_FINALIZER) !== true) {
      await this.#setFinalizers(provider, [...(provider.metadata.finalizers ?? []), PROVIDER_FINALIZER], signal);
      return; // it is told of again
    }
    const [problem] = dnsLabelProblems(namespaceOf(name));
    if (problem !== undefined) {
      const message = `metadata.name: its namespace ${namespaceOf(name)} cannot be made, ${problem}: make another, of 49 characters at most and without dots`;
      return this.#updateStatus(provider, failed("NameInvalid", message), signal);
    }
    await this.#ensureNamespace(name, signal);
    const { outcome, run, error } = await this.#open(provider, signal);
    const unnamed = run === undefined ? [] : await this.#discover(provider, run, signal);
    await this.#updateStatus(
      provider,
      unnamed.length === 0 ? outcome : { ...outcome, unnamed: unnamed.slice(0, MOST_NAMED) },
      signal,
    );
    if (error !== undefined) throw error;
  }

  async #open(
    provider: SpaceProviderDesc,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: ProviderOutcome; readonly run?: ProviderRun; readonly error?: unknown }> {
    const { types, secrets, runs } = this.#options;
    const { name = "", uid = "" } = provider.metadata;
    const { ProviderType: type, secretRef } = provider.spec;
    const known = Object.hasOwn(types, type) ? types[type] : undefined;
    if (known === undefined) {
      await runs.close(name);
      const all = Object.keys(types).sort().join(", ");
      return { outcome: failed("UnknownType", `spec.ProviderType: there is no type ${quote(type)}, but ${all}`) };
    }
    if (secretRef === undefined && known.needsSecret === true) {
      await runs.close(name);
      return {
        outcome: failed("SecretMissing", `spec.secretRef: a provider of type ${quote(type)} needs a Secret: name it`),
      };
    }
    const secret = secretRef && secrets.get(secretRef);
    if (secretRef !== undefined && secret === undefined) {
      await runs.close(name);
      return {
        outcome: failed(
          "SecretNotFound",
          `spec.secretRef: the Secret ${secretRef.namespace}/${secretRef.name} is not there`,
        ),
      };
    }
    const { uid: secretUid = "", resourceVersion = "" } = secret?.metadata ?? {};
    const data = Object.entries(secret?.data ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString("utf8"),
    ]);
    try {
      const version = `${secretUid} ${resourceVersion}`;
      const run = await runs.open({ name, uid, type, version, secret: Object.fromEntries(data) }, signal);
      return { outcome: outcomeOf(run), run };
    } catch (error) {
      signal.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      return { outcome: failed("OpenFailed", message), error };
    }
  }

  /** Makes Spaces of what is there. @returns names that no Space can have */
  async #discover(
    { metadata, spec }: SpaceProviderDesc,
    run: ProviderRun,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { name: provider = "" } = metadata;
    const reflector = run.below(undefined);
    const prefix = spec.SpacePrefixForDiscovery ?? "";
    const unnamed: string[] = [];
    for (const name of reflector.names) {
      if (!name.startsWith(prefix)) continue;
      if (this.#options.spaces.of({ provider, parent: undefined, name }).length > 0) continue;
      if (nameProblems(name).length > 0 || name.length > LONGEST) unnamed.push(name);
      else if (!(await this.#createSpace({ provider, name, externalName: reflector.get(name)?.externalName }, signal)))
        unnamed.push(name);
    }
    return unnamed;
  }

  /** @returns whether there is one of that name now that is not somebody else's */
  async #createSpace(
    {
      provider,
      name,
      externalName,
    }: { readonly provider: string; readonly name: string; readonly externalName: string | undefined },
    signal: AbortSignal,
  ): Promise<boolean> {
    const spaces = this.#options.client.resource(Space).in(namespaceOf(provider));
    const metadata = {
      name,
      labels: { [DISCOVERED_LABEL]: "true", [PROVIDER_LABEL]: labelOf(provider) },
      ...(externalName !== undefined && { annotations: { [EXTERNAL_NAME_ANNOTATION]: externalName } }),
    };
    const space = { metadata, spec: { SpaceProviderDescName: provider, Type: "unmanaged" } } as const;
    const made = await spaces.create(space, { signal }).catch(onCode(409, () => undefined));
    if (made !== undefined) return true;
    const there = await spaces.get(name, { signal }).catch(onCode(404, () => undefined));
    return there === undefined || there.spec.SpaceProviderDescName === provider;
  }

  /** What is being deleted goes first, and what was discovered, by itself; the namespace too, if there is nothing of anybody's in it. */
  async #finalize(provider: SpaceProviderDesc, signal: AbortSignal): Promise<void> {
    const { name = "", finalizers = [] } = provider.metadata;
    const { runs, spaces, client } = this.#options;
    const left = spaces.ofProvider(name);
    const isHolding = finalizers.includes(PROVIDER_FINALIZER);
    if (isHolding && left.some((space) => isHeld(space) && space.metadata.deletionTimestamp !== undefined)) {
      const { outcome, error } = await this.#open(provider, signal);
      await this.#updateStatus(provider, outcome, signal);
      if (error !== undefined) throw error;
      return; // until these are gone
    }
    await runs.close(name);
    if (!isHolding) return;
    if (left.some(({ metadata }) => metadata.labels?.[DISCOVERED_LABEL] === "true")) return;
    const namespace = namespaceOf(name);
    const isEmpty = (await client.resource(Space).in(namespace).list({ limit: 1, signal })).items.length === 0;
    const there = await client
      .resource(NAMESPACE)
      .get(namespace, { signal })
      .catch(onCode(404, () => undefined));
    if (isEmpty && there?.metadata.labels?.[PROVIDER_LABEL] === labelOf(name))
      await client
        .resource(NAMESPACE)
        .delete(namespace, { signal })
        .catch(onCode<unknown>(404, () => undefined));
    await this.#setFinalizers(
      provider,
      finalizers.filter((one) => one !== PROVIDER_FINALIZER),
      signal,
    );
  }

  async #ensureNamespace(provider: string, signal: AbortSignal): Promise<void> {
    const namespaces = this.#options.client.resource(NAMESPACE);
    const metadata = { name: namespaceOf(provider), labels: { [PROVIDER_LABEL]: labelOf(provider) } };
    const there = await namespaces.get(metadata.name, { signal }).catch(onCode(404, () => undefined));
    if (there?.metadata.deletionTimestamp !== undefined)
      throw new Error(`the namespace ${metadata.name} is being deleted`);
    if (there === undefined) await namespaces.create({ metadata }, { signal });
  }

  async #setFinalizers(
    { metadata }: SpaceProviderDesc,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { name = "", resourceVersion = "" } = metadata;
    const patch = { metadata: { resourceVersion, finalizers: [...finalizers] } };
    await this.#options.client
      .resource(SpaceProviderDesc)
      .mergePatch(name, patch, { signal })
      .catch(onCode<unknown>(404, () => undefined));
  }

  async #updateStatus(provider: SpaceProviderDesc, outcome: ProviderOutcome, signal: AbortSignal): Promise<void> {
    const status = providerStatusOf(provider, outcome, this.#options.now());
    if (status === undefined) return;
    const { name = "", resourceVersion = "" } = provider.metadata;
    const resource = this.#options.client.resource(SpaceProviderDesc).status;
    await resource.mergePatch(name, { metadata: { resourceVersion }, status }, { signal });
  }
}

function outcomeOf(run: ProviderRun): ProviderOutcome {
  const reflector = run.below(undefined);
  const { state } = reflector;
  const spaces = reflector.isKnown ? reflector.names.length : undefined;
  if (state.status === "current") return { spaces };
  if (state.status === "unknown")
    return {
      spaces,
      problem: { reason: "Initializing", message: "it has not said yet which spaces it has", isKnown: false },
    };
  return { spaces, problem: { reason: "ProviderUnreachable", message: state.error.message, isKnown: true } };
}

const failed = (reason: string, message: string): ProviderOutcome => ({
  spaces: undefined,
  problem: { reason, message, isKnown: true },
});

const NAMESPACE: KindReference = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
};

/** What came of looking at a provider. */
interface ProviderOutcome {
  /** How many it has; `undefined`: it has never said. */
  readonly spaces: number | undefined;
  /** Why it is not ready. @default it is */
  readonly problem?: { readonly reason: string; readonly message: string; readonly isKnown: boolean };
  /** Some of the names of spaces that no Space can have. @default none */
  readonly unnamed?: readonly string[];
}

/** The condition of what was found at a provider. */
const DISCOVERED = "Discovered";

/** The status of a SpaceProviderDesc. @returns `undefined` where it is as it was */
function providerStatusOf(
  provider: SpaceProviderDesc,
  { spaces, problem, unnamed = [] }: ProviderOutcome,
  now: Date,
): SpaceProviderDescStatus | undefined {
  const before: Partial<SpaceProviderDescStatus> = provider.status ?? {};
  const ready: ConditionState =
    problem === undefined
      ? { type: READY_CONDITION, status: "True" }
      : {
          type: READY_CONDITION,
          status: "False",
          severity: problem.isKnown ? "Error" : "Info",
          ...reasonAndMessage(problem),
        };
  const discovered: ConditionState =
    unnamed.length === 0
      ? { type: DISCOVERED, status: "True" }
      : {
          type: DISCOVERED,
          status: "False",
          severity: "Warning",
          reason: "NamesTaken",
          message: `${NAMES} ${unnamed.join(", ")}`,
        };
  const conditions = setCondition(
    setCondition(before.conditions as Condition[] | undefined, ready, now),
    discovered,
    now,
  );
  const { generation } = provider.metadata;
  const status: SpaceProviderDescStatus = {
    ...before,
    Phase: problem === undefined ? "Ready" : (before.Phase ?? "Initializing"),
    ...(spaces !== undefined && { spaces }),
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
  };
  return isDeepStrictEqual(status, provider.status) ? undefined : status;
}

const NAMES = "no Space can have these names, or another has:";
const reasonAndMessage = ({ reason, message }: NonNullable<ProviderOutcome["problem"]>) => ({ reason, message });
