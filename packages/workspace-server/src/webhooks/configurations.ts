import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { WebhookConfigurationContent } from "../kinds/webhook-configuration.ts";
import { type Webhook, type WebhookPhase, webhooksOf } from "./webhook.ts";

type Configuration = KubeObject & WebhookConfigurationContent;

const NONE: readonly Webhook[] = Object.freeze([]);

interface Kept {
  readonly byName: Map<string, Configuration>;
  webhooks: readonly Webhook[] | undefined;
}

/** Webhooks of many logical clusters, by phase; the owner of the watches keeps them current. A logical cluster without any takes no memory. */
export class WebhookConfigurations {
  readonly #phases: Readonly<Record<WebhookPhase, Map<string, Kept>>> = { mutating: new Map(), validating: new Map() };

  /** Whether no logical cluster has any. */
  get isEmpty(): boolean {
    return this.#phases.mutating.size + this.#phases.validating.size === 0;
  }

  /** Returns the webhooks of a logical cluster in the order of calls: by configuration's name. The same list while nothing changes. */
  in(cluster: string, phase: WebhookPhase): readonly Webhook[] {
    const kept = this.#phases[phase].get(cluster);
    if (kept === undefined) return NONE;
    kept.webhooks ??= [...kept.byName]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, configuration]) => webhooksOf(configuration, phase));
    return kept.webhooks;
  }

  /** Adds a configuration, or replaces the one of its name. */
  set(cluster: string, phase: WebhookPhase, configuration: Configuration): void {
    const kept = this.#phases[phase].get(cluster) ?? { byName: new Map(), webhooks: undefined };
    kept.byName.set(configuration.metadata.name ?? "", configuration);
    kept.webhooks = undefined;
    this.#phases[phase].set(cluster, kept);
  }

  delete(cluster: string, phase: WebhookPhase, name: string): void {
    const kept = this.#phases[phase].get(cluster);
    if (kept === undefined) return;
    kept.byName.delete(name);
    kept.webhooks = undefined;
    if (kept.byName.size === 0) this.#phases[phase].delete(cluster);
  }
}
