/**
 * Types of the modules of panels: what the console gives them. There is nothing to import at run time.
 *
 * @module
 */

export type {
  ObjectPanel,
  ObjectPanelContext,
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
export type { PanelSubject, PanelTree } from "../panel/panel.ts";
