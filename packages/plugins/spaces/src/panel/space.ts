import type { ObjectPanel, PanelContext } from "@virtual-workspaces/framework/panel";
import { made, PROVIDERS, pathTo, phaseOf, type Reference, readyOf, type Space, section } from "./names.ts";

/** The page of a Space: its state, whether it can be reached, its access and its URL. */
export const mount: ObjectPanel<Space> = (element, context) => {
  const { object, elements, url } = context;
  const facts = made("div", "");
  const reached = made("div", "row");
  reached.setAttribute("role", "status");
  const check = made("button", "link", "Check again") as HTMLButtonElement;
  check.type = "button";
  const place = made("div", "");
  element.append(
    section("State", facts),
    section("Reachability", made("p", "hint", "The version that the Space reports to you now."), reached, check),
    section("URL", place),
  );
  check.addEventListener("click", () => void reach(context, object.current, reached));
  let shown = "";
  let phase: string | undefined;
  object.subscribe((space) => {
    facts.replaceChildren(elements.facts(factsOf(space, context)));
    // A Space that has become ready can be reached from then on.
    if (phase !== (space.status?.Phase ?? "")) {
      phase = space.status?.Phase ?? "";
      void reach(context, space, reached);
    }
    const path = pathTo(space);
    if (path === shown) return;
    shown = path;
    place.replaceChildren(elements.url(url(path), space.metadata.name));
  });
};

function factsOf(space: Space, { elements, workspace }: PanelContext) {
  const { metadata, spec = {}, status = {} } = space;
  const provider = spec.SpaceProviderDescName;
  const ready = readyOf(space);
  const state = made("span", "", phaseOf(space, elements));
  if (ready?.status !== "True") state.append(` ${ready?.message ?? ready?.reason ?? ""}`);
  const secret = ({ name = "", namespace = metadata.namespace ?? "" }: Reference) =>
    elements.link(`${namespace}/${name}`, {
      resource: { group: "", version: "v1", resource: "secrets" },
      object: { name, namespace },
    });
  const { inClusterSecretRef: inside, externalSecretRef: outside } = status;
  const conditions = (status.conditions ?? []).filter(({ type }) => type !== "Ready");
  const list = made("ul", "");
  for (const { type, status: value, message } of conditions)
    list.append(
      made("li", "", elements.badge(`${type}: ${value}`, value === "True" ? "good" : "warning"), ` ${message ?? ""}`),
    );
  return {
    Phase: state,
    Conditions: conditions.length === 0 ? undefined : list,
    Provider:
      provider === undefined ? "none" : elements.link(provider, { resource: PROVIDERS, object: { name: provider } }),
    Type: spec.Type,
    "Access from": spec.accessscopetype,
    "Kubeconfig inside": inside && secret(inside),
    "Kubeconfig outside": outside && secret(outside),
    "Space ID": status.spaceID,
    "Rights of users": elements.link(`Access in ${workspace.path}`, { view: "access" }),
  };
}

interface Version {
  readonly gitVersion?: string;
}

/** Attempts to reach a Space that is ready: the view may learn of that a moment later. */
const ATTEMPTS = 5;

/** Shows whether a Space responds through the view to the user. A later call replaces an earlier one. */
async function reach(context: PanelContext, space: Space, place: HTMLElement): Promise<void> {
  const { client, elements, signal } = context;
  const mark = `${performance.now()}`;
  place.dataset["check"] = mark;
  for (let attempt = 1; !signal.aborted && place.dataset["check"] === mark; attempt += 1) {
    try {
      const { gitVersion = "" } = await client.request<Version>(`${pathTo(space)}/version`);
      if (place.dataset["check"] === mark) place.replaceChildren(elements.badge("Reachable", "good"), gitVersion);
      return;
    } catch (error) {
      if (signal.aborted || place.dataset["check"] !== mark) return;
      const { code = 0, message } = error as { readonly code?: number; readonly message: string };
      place.replaceChildren(elements.badge(code === 403 ? "Not allowed" : "Not reachable", "failed"), message);
      if (code === 403 || space.status?.Phase !== "Ready" || attempt === ATTEMPTS) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
  }
}
