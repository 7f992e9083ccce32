import type { WholeObject } from "../object/live-object.ts";
import { Url } from "./copy.tsx";
import { texts } from "./texts.ts";

interface WithUrls {
  readonly spec?: { readonly URL?: unknown };
  readonly status?: {
    readonly URL?: unknown;
    readonly endpoints?: readonly { readonly url?: unknown }[];
    readonly virtualWorkspaces?: readonly { readonly url?: unknown }[];
  };
}

/** The URLs that an object publishes. */
export function UrlsPart({ object }: { readonly object: WholeObject }) {
  const { spec, status } = object as WithUrls;
  const all = [
    spec?.URL,
    status?.URL,
    ...(status?.endpoints ?? []).map(({ url }) => url),
    ...(status?.virtualWorkspaces ?? []).map(({ url }) => url),
  ];
  const urls = [...new Set(all)].filter((url): url is string => typeof url === "string" && url !== "");
  return <Urls urls={urls} name={object.metadata.name} none={texts.urls.none} />;
}

interface UrlsProps {
  readonly urls: readonly string[];
  readonly name: string;
  readonly none: string;
}

export function Urls({ urls, name, none }: UrlsProps) {
  return (
    <section aria-labelledby="urls">
      <h3 id="urls">{texts.urls.heading}</h3>
      {urls.length === 0 && <p class="muted">{none}</p>}
      <ul class="urls">
        {urls.map((url) => (
          <li key={url}>
            <Url url={url} name={name} />
          </li>
        ))}
      </ul>
    </section>
  );
}
