import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { texts } from "../texts.ts";

export interface LazyProps<P> {
  readonly load: () => Promise<ComponentType<P>>;
  readonly with: P;
}

/** A component whose program is loaded when it is shown. */
export function Lazy<P extends object>({ load, with: properties }: LazyProps<P>) {
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
