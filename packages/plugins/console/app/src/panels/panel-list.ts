import type { PanelSubject, PanelTree } from "@virtual-workspaces/framework/panel";
import type { ResourceId } from "../api/base.ts";
import { asStatusError, request, type StatusError } from "../api/client.ts";
import { reloadable } from "../api/shared.ts";

/** A panel that the server names. */
export interface Panel {
  readonly name: string;
  readonly title: string;
  readonly for: PanelSubject;
  /** Path of the virtual workspace that has it, with parameters in braces. */
  readonly path?: string;
  readonly tree?: PanelTree;
  /** URL of its module, relative to the page. */
  readonly module?: string;
  /** Why it has none. */
  readonly error?: string;
}

interface PanelList {
  readonly panels: readonly Panel[];
  readonly error?: StatusError;
  readonly reload: () => void;
}

/** The panels of the server, read once for all readers. */
export const panelList = () =>
  reloadable<PanelList>("panels", { panels: [] }, (state) => {
    const stop = new AbortController();
    const set = (next: Omit<PanelList, "reload">) => {
      if (!stop.signal.aborted) state.value = { ...next, reload: state.peek().reload };
    };
    request<Pick<PanelList, "panels">>("console/panels", { signal: stop.signal }).then(
      ({ panels }) => set({ panels }),
      (error) => set({ panels: [], error: asStatusError(error) }),
    );
    return () => stop.abort();
  });

/** The panels for objects of a resource. To be read while a component is rendered. */
export const panelsOfResource = ({ group, resource }: ResourceId): readonly Panel[] =>
  panelList().value.panels.filter(
    (one) => "resource" in one.for && one.for.group === group && one.for.resource === resource,
  );

/** The panels for a virtual workspace. */
export const panelsOfView = (name: string): readonly Panel[] =>
  panelList().value.panels.filter((one) => "virtualWorkspace" in one.for && one.for.virtualWorkspace === name);

/** Name of the tab of a panel, in the address. */
export const tabOf = ({ name }: Panel): string => `panel-${name}`;
