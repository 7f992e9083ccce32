import type { PanelContext, PanelElement } from "@virtual-workspaces/framework/panel";

/** A Space, as far as the panels read it. */
export interface Space {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly SpaceProviderDescName?: string;
    readonly Type?: string;
    readonly accessscopetype?: string;
    readonly inClusterSecretName?: string;
    readonly externalSecretName?: string;
  };
  readonly status?: {
    readonly Phase?: string;
    readonly spaceID?: string;
    readonly inClusterSecretRef?: Reference;
    readonly externalSecretRef?: Reference;
    readonly conditions?: readonly Condition[];
  };
}

/** Reference to a Secret. */
export interface Reference {
  readonly name?: string;
  readonly namespace?: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export const SPACES = { group: "space.kubestellar.io", version: "v1alpha1", resource: "spaces" } as const;
export const PROVIDERS = {
  group: "space.kubestellar.io",
  version: "v1alpha1",
  resource: "spaceproviderdescs",
} as const;

/** Path of a Space in the view, below the URL of the server. `-` stands for no provider. */
export const pathTo = ({ metadata, spec }: Space): string =>
  `services/spaces/${encodeURIComponent(spec?.SpaceProviderDescName ?? "-")}/${encodeURIComponent(metadata.name)}`;

/** The condition that says why a Space is not ready. */
export const readyOf = ({ status }: Space): Condition | undefined =>
  status?.conditions?.find(({ type }) => type === "Ready");

/** The phase of a Space as a badge. */
export function phaseOf({ status }: Space, { badge }: PanelContext["elements"]): PanelElement {
  const phase = status?.Phase ?? "Unknown";
  return badge(phase, phase === "Ready" ? "good" : phase === "NotReady" ? "failed" : "warning");
}

/** An element with children. */
export function made(tag: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  element.append(...children);
  return element;
}

/** A part of the page with a heading. */
export function section(title: string, ...children: readonly (Node | string)[]): HTMLElement {
  const heading = made("h3", "", title);
  heading.id = `spaces-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  const whole = made("section", "", heading, ...children);
  whole.setAttribute("aria-labelledby", heading.id);
  return whole;
}
