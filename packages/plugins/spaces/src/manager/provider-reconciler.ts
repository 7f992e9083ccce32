import {
  dnsLabelProblems,
  type KindReference,
  nameProblems,
  type ObjectOf,
  quote,
} from "@virtual-workspaces/apimachinery";
import type { Client, Store } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import {
  DISCOVERED_LABEL,
  EXTERNAL_NAME_ANNOTATION,
  labelOf,
  namespaceOf,
  PROVIDER_FINALIZER,
  PROVIDER_LABEL,
} from "../kinds/names.ts";
import { type SecretContent, textsIn } from "../kinds/secret.ts";
import { Space } from "../kinds/space.ts";
import { SpaceProviderDesc } from "../kinds/space-provider-desc.ts";
import type { SpaceProviderType } from "../provider/provider.ts";
import { isHeld, type SpaceLister } from "./listers.ts";
import { type Places, SPACES_TAKEN } from "./places.ts";
import type { ProviderRun, ProviderRuns } from "./provider-runs.ts";
import {
  failed,
  MOST_NAMED,
  outcomeOf,
  type ProviderOutcome,
  providerStatusOf,
  waitingFor,
} from "./provider-status.ts";

/** Options of {@link ProviderReconciler}. */
export interface ProviderReconcilerOptions {
  readonly client: Client;
  readonly types: Readonly<Record<string, SpaceProviderType>>;
  readonly spaces: SpaceLister;
  readonly runs: ProviderRuns;
  readonly places: Places;
  readonly secrets: Store<ObjectOf<SecretContent>>;
  readonly now: () => Date;
}

/** Maximum length of a Space's name: its Secrets have longer ones. */
const LONGEST = 253 - "incluster-".length;

/** Result of opening a provider. */
interface OpenedProvider {
  readonly outcome: ProviderOutcome;
  readonly run?: ProviderRun;
  readonly error?: unknown;
}

/** Opens providers, creates Spaces for their physical spaces, and deletes these when a provider is deleted. */
export class ProviderReconciler {
  readonly #options: ProviderReconcilerOptions;

  constructor(options: ProviderReconcilerOptions) {
    this.#options = options;
  }

  /** @throws errors of the management cluster or the provider type; the caller retries */
  async reconcile(name: string, provider: SpaceProviderDesc | undefined, signal: AbortSignal): Promise<void> {
    if (provider === undefined) return this.#options.runs.close(name);
    if (provider.metadata.deletionTimestamp !== undefined) return this.#finalize(provider, signal);
    if (provider.metadata.finalizers?.includes(PROVIDER_FINALIZER) !== true) {
      await this.#setFinalizers(provider, [...(provider.metadata.finalizers ?? []), PROVIDER_FINALIZER], signal);
      return; // The update triggers another reconciliation.
    }
    const [problem] = dnsLabelProblems(namespaceOf(name));
    if (problem !== undefined) {
      const message = `metadata.name: cannot create the namespace ${namespaceOf(name)}, ${problem}: use a name of at most 49 characters without dots`;
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

  async #open(provider: SpaceProviderDesc, signal: AbortSignal): Promise<OpenedProvider> {
    const { types, secrets, runs, places } = this.#options;
    const { name = "", uid = "" } = provider.metadata;
    const { ProviderType: type, secretRef } = provider.spec;
    const known = Object.hasOwn(types, type) ? types[type] : undefined;
    if (known === undefined) {
      await runs.close(name);
      const all = Object.keys(types).sort().join(", ");
      return { outcome: failed("UnknownType", `spec.ProviderType: unknown type ${quote(type)}: use one of ${all}`) };
    }
    if (secretRef === undefined && known.needsSecret === true) {
      await runs.close(name);
      return {
        outcome: failed("SecretMissing", `spec.secretRef: required for type ${quote(type)}: name a Secret`),
      };
    }
    const secret = secretRef && secrets.get(secretRef);
    if (secretRef !== undefined && secret === undefined) {
      await runs.close(name);
      return {
        outcome: failed(
          "SecretNotFound",
          `spec.secretRef: the Secret ${secretRef.namespace}/${secretRef.name} does not exist: create it`,
        ),
      };
    }
    const owner = places.takenBy(provider);
    if (owner !== undefined) {
      await runs.close(name);
      return {
        outcome: failed(
          SPACES_TAKEN,
          `the SpaceProviderDesc ${quote(owner.metadata.name ?? "")} is older and has the same spaces: use that one, or let spec.secretRef lead to another place`,
        ),
      };
    }
    const { uid: secretUid = "", resourceVersion = "" } = secret?.metadata ?? {};
    try {
      const version = `${secretUid} ${resourceVersion}`;
      const run = await runs.open({ name, uid, type, version, secret: textsIn(secret) }, signal);
      return { outcome: outcomeOf(run), run };
    } catch (error) {
      signal.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      return { outcome: failed("OpenFailed", message), error };
    }
  }

  /** Creates Spaces for discovered physical spaces. @returns names that are invalid for a Space */
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

  /** @returns whether a Space with that name now exists that belongs to this provider */
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

  /**
   * Waits for Spaces that are being deleted, for discovered ones, and deletes the namespace if it is otherwise empty. Other Spaces stay,
   * including discovered ones that users have taken over.
   */
  async #finalize(provider: SpaceProviderDesc, signal: AbortSignal): Promise<void> {
    const { name = "", finalizers = [] } = provider.metadata;
    const { runs, spaces, client } = this.#options;
    if (!finalizers.includes(PROVIDER_FINALIZER)) return runs.close(name);
    const left = spaces.ofProvider(name);
    const held = left.filter((space) => isHeld(space) && space.metadata.deletionTimestamp !== undefined);
    if (held.length === 0) await runs.close(name);
    const waiting = [...new Set([...held, ...left.filter(isDropped)])];
    if (waiting.length > 0) {
      const { outcome, error } = held.length > 0 ? await this.#open(provider, signal) : CLOSED;
      await this.#updateStatus(provider, waitingFor(waiting, outcome), signal);
      if (error !== undefined) throw error;
      return; // Continues after their deletion.
    }
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

/** Reports whether a Space is deleted together with its provider. */
const isDropped = ({ metadata, spec }: Space): boolean =>
  metadata.labels?.[DISCOVERED_LABEL] === "true" && spec.Type === "unmanaged";

/** Result for a provider that is not needed any more. */
const CLOSED: OpenedProvider = { outcome: { spaces: undefined } };

const NAMESPACE: KindReference = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  scope: "Cluster",
};
