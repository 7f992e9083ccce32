import { Fact } from "../kcp/fact.tsx";
import { Problem } from "../ui/problem.tsx";
import { whoAmI } from "./reviews.ts";
import { texts } from "./texts.ts";
import { useAnswer } from "./use-answer.ts";

/** As whom the server knows the user in a workspace: it may differ from the user of the session, by scopes and warrants. */
export function WhoAmI({ workspace }: { readonly workspace: string }) {
  const words = texts.who;
  const { value, error, again } = useAnswer(workspace, () => whoAmI(workspace));
  return (
    <section aria-labelledby="who-am-i">
      <h2 id="who-am-i">{words.heading}</h2>
      {error !== undefined && <Problem error={error} hint={words.failed} onRetry={again} />}
      {value !== undefined && (
        <dl class="facts">
          <Fact name={words.name}>{value.username}</Fact>
          {value.uid !== undefined && value.uid !== "" && <Fact name={words.uid}>{value.uid}</Fact>}
          <Fact name={words.groups}>{(value.groups ?? []).join(", ") || words.none}</Fact>
          {Object.entries(value.extra ?? {}).map(([name, values]) => (
            <Fact key={name} name={name}>
              {values.join(", ")}
            </Fact>
          ))}
        </dl>
      )}
    </section>
  );
}
