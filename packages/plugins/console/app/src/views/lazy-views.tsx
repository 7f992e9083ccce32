import type { ObjectAddress } from "../api/objects.ts";
import type { WholeObject } from "../object/live-object.ts";
import { Lazy } from "../ui/lazy.tsx";

/** The virtual workspaces of the server. Its program is loaded when it is first shown. */
export function ViewsPage({ workspace }: { readonly workspace: string }) {
  return (
    <Lazy
      key={workspace}
      load={() => import("./views-page.tsx").then((module) => module.ViewsPage)}
      with={{ workspace }}
    />
  );
}

/** One virtual workspace of the server, loaded in the same way. */
export function ViewPage({ workspace, name }: { readonly workspace: string; readonly name: string }) {
  return (
    <Lazy
      key={`${workspace} ${name}`}
      load={() => import("./view-page.tsx").then((module) => module.ViewPage)}
      with={{ workspace, name }}
    />
  );
}

interface ObjectViewsProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
}

/** An object through all views, loaded in the same way. */
export function ObjectViews({ address, object }: ObjectViewsProps) {
  return (
    <Lazy
      key={JSON.stringify(address)}
      load={() => import("./object-views-tab.tsx").then((module) => module.ObjectViewsTab)}
      with={{ address, object }}
    />
  );
}
