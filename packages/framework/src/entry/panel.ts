/**
 * Panels of the console: their description, and the types of their modules. There is nothing to import at run time.
 *
 * @module
 */

export type {
  ObjectPanel,
  ObjectPanelContext,
  PanelAccess,
  PanelAddress,
  PanelClient,
  PanelCollection,
  PanelContext,
  PanelElement,
  PanelElements,
  PanelError,
  PanelList,
  PanelMount,
  PanelObject,
  PanelParameters,
  PanelPlace,
  PanelRequest,
  PanelUnmount,
  PanelWatched,
  ViewPanel,
  ViewPanelContext,
} from "../panel/context.ts";
export type { Panel, PanelSubject, PanelTree, ServedPanel } from "../panel/panel.ts";
