import type { PanelContext } from "@virtual-workspaces/framework/panel";
import { made, PROVIDERS, pathTo, phaseOf, readyOf, SPACES, type Space } from "./names.ts";

interface TableOptions {
  /** Name of the table for screen readers. */
  readonly label: string;
  /** Whether the Spaces of all workspaces are listed. @default those of the workspace */
  readonly everywhere?: boolean;
  /** Provider of the Spaces. @default all */
  readonly provider?: string;
  /** Called if the server has no list over all workspaces. */
  readonly onPartial?: () => void;
}

/** A table of Spaces, live. */
export function spaceTable(
  context: PanelContext,
  { label, everywhere = false, provider, onPartial }: TableOptions,
): HTMLElement {
  const body = made("tbody", "");
  const names = ["Space", "Provider", "Type", "Phase", "URL"];
  const head = made("thead", "", made("tr", "", ...names.map((name) => heading(name))));
  const table = made("table", "small-table", head, body);
  table.setAttribute("aria-label", label);
  const note = made("p", "muted", "Loading…");
  /** Rows by object and version: what has not changed keeps the focus. */
  let rows = new Map<string, HTMLElement>();
  context.client.watch<Space>({ ...SPACES, everywhere }, ({ items, state, error, isPartial = false }) => {
    if (isPartial) onPartial?.();
    const spaces = items.filter(({ spec }) => provider === undefined || spec?.SpaceProviderDescName === provider);
    const next = new Map<string, HTMLElement>();
    for (const space of spaces) {
      const key = `${space.metadata.uid} ${space.metadata.resourceVersion}`;
      next.set(key, rows.get(key) ?? rowOf(space, context));
    }
    for (const [key, row] of rows) if (!next.has(key)) row.remove();
    [...next.values()].forEach((row, at) => {
      if (body.children[at] !== row) body.insertBefore(row, body.children[at] ?? null);
    });
    rows = next;
    table.hidden = spaces.length === 0;
    note.textContent = state === "loading" ? "Loading…" : (error?.message ?? "There are no Spaces.");
    note.hidden = error === undefined && spaces.length > 0;
  });
  return made("div", "table-wrap", table, note);
}

function heading(name: string): HTMLElement {
  const cell = made("th", "", name) as HTMLTableCellElement;
  cell.scope = "col";
  return cell;
}

function rowOf(space: Space, { elements, url, workspace }: PanelContext): HTMLElement {
  const { metadata, spec } = space;
  const { name, namespace = "" } = metadata;
  const place = { workspace: metadata.annotations?.["kcp.io/cluster"] ?? workspace.path };
  const provider = spec?.SpaceProviderDescName;
  const title = made(
    "th",
    "",
    elements.link(name, { ...place, resource: SPACES, object: { name, namespace }, view: "panel-space" }),
  );
  (title as HTMLTableCellElement).scope = "row";
  const why = readyOf(space);
  const state = made("td", "", phaseOf(space, elements));
  if (why !== undefined && why.status !== "True") state.append(made("p", "hint", why.message ?? why.reason ?? ""));
  return made(
    "tr",
    "",
    title,
    made(
      "td",
      "",
      provider === undefined
        ? "none"
        : elements.link(provider, { ...place, resource: PROVIDERS, object: { name: provider } }),
    ),
    made("td", "", spec?.Type ?? ""),
    state,
    made("td", "url-cell", elements.url(url(pathTo(space)), name)),
  );
}
