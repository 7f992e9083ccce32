import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ResourceId } from "../api/base.ts";
import type { ObjectAddress } from "../api/objects.ts";
import { texts } from "../texts.ts";

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

interface LazyProps<P> {
  readonly load: () => Promise<ComponentType<P>>;
  readonly with: P;
}

function Lazy<P extends object>({ load, with: properties }: LazyProps<P>) {
  const [loaded, setLoaded] = useState<{ readonly Page?: ComponentType<P> }>();
  useEffect(() => {
    load().then(
      (Page) => setLoaded({ Page }),
      () => setLoaded({}),
    );
  }, []);
  if (loaded === undefined) return <p class="muted">{texts.loading}</p>;
  const { Page } = loaded;
  if (Page === undefined)
    return (
      <p class="empty" role="alert">
        {texts.object.notLoaded}
      </p>
    );
  return <Page {...properties} />;
}
