import type { ResourceId } from "../api/base.ts";
import type { ObjectAddress } from "../api/objects.ts";
import { Lazy } from "../ui/lazy.tsx";

/** The page of an object. Its program is loaded when the first object is shown. */
export function ObjectPage({ address }: { readonly address: ObjectAddress }) {
  return (
    <Lazy
      key={JSON.stringify(address)}
      load={() => import("./page.tsx").then((module) => module.ObjectPage)}
      with={{ address }}
    />
  );
}

/** The page that creates an object, loaded in the same way. */
export function CreatePage({ workspace, id }: { readonly workspace: string; readonly id: ResourceId }) {
  return (
    <Lazy
      key={`${workspace} ${JSON.stringify(id)}`}
      load={() => import("./create/create-page.tsx").then((module) => module.CreatePage)}
      with={{ workspace, id }}
    />
  );
}
