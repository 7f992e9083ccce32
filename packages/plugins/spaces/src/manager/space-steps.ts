import { isApiError, quote } from "@virtual-workspaces/apimachinery";
import { type Client, terminal } from "@virtual-workspaces/client";
import { onCode } from "@virtual-workspaces/client/http";
import type { ConditionState } from "@virtual-workspaces/kcp/conditions";
import { EXTERNAL_NAME_ANNOTATION, SPACE_FINALIZER } from "../kinds/names.ts";
import { Space } from "../kinds/space.ts";
import type { PhysicalSpace } from "../provider/provider.ts";
import { ProviderBusy, type ProviderCalls } from "../provider/provider-calls.ts";
import type { ProviderReflector } from "../provider/provider-reflector.ts";
import { type AccessSecrets, SecretTaken } from "./access-secrets.ts";
import { isHeld, type PhysicalSpaceKey } from "./listers.ts";
import {
  hasAccess,
  isProvided,
  noAccess,
  notKnown,
  notProvided,
  type SpaceOutcome,
  staleAccess,
} from "./space-status.ts";
import type { Reason, Row, Step } from "./table.ts";

/** Physical space of a Space, with its reflector. */
export interface ProvidedSpace {
  readonly key: PhysicalSpaceKey;
  readonly calls: ProviderCalls | undefined;
  readonly reflector: ProviderReflector | undefined;
  readonly space: PhysicalSpace | undefined;
  /** Whether its SpaceProviderDesc is being deleted. */
  readonly isProviderLeaving: boolean;
}

/** Interval between checks of a deletion, ms. The provider's watch may report the end earlier. */
const GONE = 2_000;

/** Result of the steps. */
interface StepsResult {
  /** Updated Space; `undefined` if it is deleted or being deleted. */
  readonly space: Space | undefined;
  readonly outcome: SpaceOutcome;
  readonly error?: unknown;
  /** ms */
  readonly requeueAfter?: number;
}

interface SpaceStepsOptions {
  readonly space: Space;
  readonly found: ProvidedSpace;
  readonly row: Row;
  readonly signal: AbortSignal;
}

/** Runs the steps of the state table for one Space. */
export class SpaceSteps {
  readonly #client: Client;
  readonly #access: AccessSecrets;
  readonly #found: ProvidedSpace;
  readonly #row: Row;
  readonly #signal: AbortSignal;
  #space: Space;
  #outcome: SpaceOutcome;

  constructor(client: Client, access: AccessSecrets, { space, found, row, signal }: SpaceStepsOptions) {
    this.#client = client;
    this.#access = access;
    this.#found = found;
    this.#row = row;
    this.#signal = signal;
    this.#space = space;
    const id = found.space === undefined ? undefined : (found.space.id ?? found.space.name);
    this.#outcome = { phase: row.phase, provided: providedBy(row.reason, found, space), id };
  }

  async run(): Promise<StepsResult> {
    for (const step of this.#row.steps) {
      try {
        const stopped = await this.#runStep(step);
        if (stopped !== undefined) return stopped;
      } catch (error) {
        if (isApiError(error) && error.code === 409 && !AT_PROVIDER.includes(step)) throw error;
        // The object was deleted meanwhile, so nothing may be created for it.
        if (isApiError(error) && error.code === 404 && (step === "hold" || step === "release"))
          return { space: undefined, outcome: this.#outcome };
        return this.#failed(step, error);
      }
    }
    const isGone = this.#row.reason === "Gone" || this.#row.steps.includes("drop") || this.#row.reason === "Deleting";
    return { space: isGone ? undefined : this.#space, outcome: this.#outcome };
  }

  /** @returns a result that postpones the next steps */
  async #runStep(step: Step): Promise<StepsResult | undefined> {
    const { key, calls } = this.#found;
    const { name = "", namespace = "", uid = "" } = this.#space.metadata;
    const call = { parent: key.parent, signal: this.#signal };
    switch (step) {
      case "hold":
        await this.#setFinalizers((before) => [...before, SPACE_FINALIZER]);
        return undefined;
      case "release":
        await this.#setFinalizers((before) => before.filter((one) => one !== SPACE_FINALIZER));
        return undefined;
      case "create":
        return this.#create();
      case "remove":
        return this.#remove();
      case "publish": {
        const { id = "", accessVersion = "" } = this.#found.space ?? {};
        const references = await this.#access.publish(this.#space, {
          version: `${id}/${accessVersion}`,
          ask: () => (calls === undefined ? Promise.reject(notOpen(key)) : calls.access(key.name, call)),
          signal: this.#signal,
        });
        this.#outcome = { ...this.#outcome, references, access: hasAccess };
        await this.#annotateExternalName();
        return undefined;
      }
      case "withdraw": {
        await this.#access.withdraw(this.#space, this.#signal);
        const access = noAccess("Withdrawn", "there is no space to access", "Info");
        this.#outcome = { ...this.#outcome, references: {}, access };
        return undefined;
      }
      case "drop":
        await this.#client
          .resource(Space)
          .in(namespace)
          .delete(name, { signal: this.#signal, preconditions: { uid } })
          .catch(onCode<unknown>(404, () => undefined));
        return undefined;
    }
  }

  /** A space that existed before is not created again. */
  async #create(): Promise<StepsResult> {
    const { key, calls, reflector } = this.#found;
    if (calls === undefined) throw notOpen(key);
    if (!calls.canCreate)
      throw terminal(`the provider ${quote(key.provider)} cannot create spaces: set spec.Type to unmanaged`);
    const own = await this.#readOwn();
    if (own === undefined || own.status?.spaceID !== undefined) return { space: undefined, outcome: this.#outcome };
    await calls.create(key.name, { parent: key.parent, signal: this.#signal });
    await reflector?.refresh(key.name, this.#signal);
    return { space: this.#space, outcome: this.#outcome, requeueAfter: GONE };
  }

  /** Does not delete another space that was created under the same name. */
  async #remove(): Promise<StepsResult | undefined> {
    const { key, calls, reflector } = this.#found;
    if (calls === undefined || reflector === undefined) throw notOpen(key);
    if (!calls.canDelete)
      throw terminal(`the provider ${quote(key.provider)} cannot delete spaces: set spec.Type to unmanaged`);
    const own = await this.#readOwn();
    if (own === undefined) return { space: undefined, outcome: this.#outcome };
    const there = await reflector.refresh(key.name, this.#signal);
    const { spaceID = key.name } = own.status ?? {};
    // Before the provider reports an identifier, the status has the name instead.
    const isKnown = there?.id !== undefined && spaceID !== key.name;
    if (isKnown && there.id !== spaceID) return undefined;
    await calls.delete(key.name, { parent: key.parent, signal: this.#signal });
    if ((await reflector.refresh(key.name, this.#signal)) === undefined) return undefined;
    return { space: this.#space, outcome: this.#outcome, requeueAfter: GONE };
  }

  /** Reads the object and checks its finalizer before a call of the provider, since the cache may be stale. */
  async #readOwn(): Promise<Space | undefined> {
    const { name = "", namespace = "", uid } = this.#space.metadata;
    const spaces = this.#client.resource(Space).in(namespace);
    const own = await spaces.get(name, { signal: this.#signal }).catch(onCode(404, () => undefined));
    return own !== undefined && own.metadata.uid === uid && isHeld(own) ? own : undefined;
  }

  /** Annotates the provider's name of the space, by which clients find it. */
  async #annotateExternalName(): Promise<void> {
    const { externalName } = this.#found.space ?? {};
    const { name = "", namespace = "", resourceVersion = "", annotations = {} } = this.#space.metadata;
    if (externalName === undefined || annotations[EXTERNAL_NAME_ANNOTATION] === externalName) return;
    const metadata = { resourceVersion, annotations: { [EXTERNAL_NAME_ANNOTATION]: externalName } };
    this.#space = await this.#client
      .resource(Space)
      .in(namespace)
      .mergePatch(name, { metadata }, { signal: this.#signal });
  }

  async #setFinalizers(changed: (before: readonly string[]) => readonly string[]): Promise<void> {
    const { name = "", namespace = "", resourceVersion = "", finalizers: before = [] } = this.#space.metadata;
    if (isHeld(this.#space) === changed([]).includes(SPACE_FINALIZER)) return;
    const finalizers = [...changed(before)];
    const patch = { metadata: { resourceVersion, finalizers } };
    this.#space = await this.#client.resource(Space).in(namespace).mergePatch(name, patch, { signal: this.#signal });
  }

  #failed(step: Step, error: unknown): StepsResult {
    if (error instanceof ProviderBusy)
      return { space: undefined, outcome: this.#outcome, requeueAfter: error.retryAfter };
    const message = error instanceof Error ? error.message : String(error);
    const [reason, severity] = FAILURES[step] ?? ["Failed", "Error"];
    const isAccess = step === "publish" || step === "withdraw";
    const outcome: SpaceOutcome = isAccess
      ? { ...this.#outcome, ...this.#withoutAccess(reason, error, message) }
      : { ...this.#outcome, provided: notProvided(reason, message, severity) };
    return { space: this.#space, outcome, error };
  }

  /** Keeps the Secrets of a ready space, whose credentials may stay valid for some time. */
  #withoutAccess(reason: string, error: unknown, message: string): Pick<SpaceOutcome, "phase" | "access"> {
    if (error instanceof SecretTaken) return { phase: "NotReady", access: noAccess("SecretTaken", message) };
    const { Phase, inClusterSecretRef, externalSecretRef } = this.#space.status ?? {};
    const isThere = Phase === "Ready" && (inClusterSecretRef ?? externalSecretRef) !== undefined;
    if (isThere) return { phase: "keep", access: staleAccess(message) };
    return { phase: "NotReady", access: noAccess(reason, message) };
  }
}

/** Steps in which a conflict comes from the provider. */
const AT_PROVIDER: readonly Step[] = ["create", "remove"];

/** Condition of a failed step that is retried. */
const FAILURES: Partial<Record<Step, readonly [string, "Info" | "Error"]>> = {
  create: ["CreateFailed", "Error"],
  remove: ["DeleteFailed", "Error"],
  publish: ["AccessFailed", "Error"],
  withdraw: ["AccessFailed", "Error"],
};

const notOpen = ({ provider }: PhysicalSpaceKey): Error =>
  new Error(`the provider ${quote(provider)} is not available: see the conditions of its SpaceProviderDesc`);

function providedBy(reason: Reason, found: ProvidedSpace, { metadata }: Space): ConditionState {
  const { key, reflector, space } = found;
  const provider = quote(key.provider);
  const state = reflector?.state;
  if (reason !== "ProviderNotFound" && state?.status === "unreachable" && reason !== "Deleting")
    return notKnown("ProviderUnreachable", `the provider ${provider} is unreachable: ${state.error.message}`);
  switch (reason) {
    case "Ready":
      return isProvided;
    case "Unknown":
      return notKnown("Unknown", `the provider ${provider} has not listed its spaces yet`);
    case "Creating":
    case "Initializing":
      return notProvided(reason, space?.message ?? "the provider is creating the space", "Info");
    case "NotReady":
      return notProvided(reason, space?.message ?? "the provider reports that the space is no longer ready");
    case "Vanished":
      return notProvided(
        reason,
        `the provider ${provider} no longer has the space, and this Space did not delete it: delete the Space, and create another if needed`,
      );
    case "NotFound":
      return notProvided(
        reason,
        `the provider ${provider} has no space with this name: set spec.Type to managed to create it`,
      );
    case "ProviderNotFound":
      return withoutProvider(found, metadata.deletionTimestamp !== undefined);
    default:
      return notProvided("Deleting", "the provider is deleting the space", "Info");
  }
}

/** Returns the condition without a SpaceProviderDesc, or with one that is being deleted. */
function withoutProvider({ key, isProviderLeaving }: ProvidedSpace, isDeleting: boolean): ConditionState {
  const about = `spec.SpaceProviderDescName: the SpaceProviderDesc ${quote(key.provider)}`;
  if (isProviderLeaving)
    return notProvided(
      "ProviderDeleting",
      `${about} is being deleted: create it again afterwards, or delete this Space`,
    );
  const remedy = isDeleting
    ? `create it to delete the physical space, or remove the finalizer ${SPACE_FINALIZER} to abandon the physical space`
    : "create it, or delete this Space";
  return notProvided("ProviderNotFound", `${about} does not exist: ${remedy}`);
}
