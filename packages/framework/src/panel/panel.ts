/** Where the console shows a panel: on the page of each object of a resource, or on the page of a virtual workspace. */
export type PanelSubject =
  | {
      /** API group; "" is the core group. */
      readonly group: string;
      /** Plural name of the resource. The panel gets objects in the version that the page shows. */
      readonly resource: string;
    }
  | {
      /** Name of a virtual workspace. */
      readonly virtualWorkspace: string;
    };

/** Rows in the tree of workspaces, for the objects of a panel's resource, below the workspace of each. */
export interface PanelTree {
  /** Version of the API in which the console lists the objects, over all workspaces, by the server's query view. */
  readonly version: string;
  /** Path of the field whose value is shown beside the name: `.status.phase`. @default none */
  readonly phase?: string;
}

/**
 * A panel of the console: an ES module that adds a tab to the pages of objects, or a part to the page of a virtual workspace. The types
 * of the module are in `@virtual-workspaces/framework/panel`.
 *
 * Security: a panel acts with the rights of each user who opens it. So only code of the server names panels, never an object in a
 * workspace. The console serves its files without authentication, as the rest of its page: they must contain no secrets.
 *
 * @see docs/reference/panels.md
 */
export interface Panel {
  /** Name in URLs: lower-case letters, digits and dashes, unique in a server. */
  readonly name: string;
  /** Title of the tab or of the part. */
  readonly title: string;
  /** Where it is shown. @default the page of the virtual workspace that has the panel */
  readonly for?: PanelSubject;
  /**
   * Path of the virtual workspace that it is for, with parameters in braces, if another server serves that:
   * `/services/quotes/clusters/{cluster}`. The client of the panel uses it as its API.
   * @default that of the virtual workspace of this server, if it has one of the name
   */
  readonly path?: string;
  /**
   * The module, a file: `new URL("./quotes-panel.js", import.meta.url)`. TypeScript (`.ts`) is served without its types, as Node.js
   * runs it.
   */
  readonly module: URL;
  /** Further files that the module imports or loads, relative to its folder: `["chart.js", "quotes.css"]`. Other files are not served. @default none */
  readonly files?: readonly string[];
  /** Shows the objects in the tree, for a panel of a resource. @default not shown */
  readonly tree?: PanelTree;
}

/** A panel of a server, for its pages. */
export interface ServedPanel extends Panel {
  readonly for: PanelSubject;
}
