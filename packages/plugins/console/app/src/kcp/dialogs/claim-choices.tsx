import { useId } from "preact/hooks";
import type { LiveList } from "../../api/live-list.ts";
import type { Answer } from "../binding/answer.ts";
import { type ApiExport, keyOfClaim, nameOfClaim } from "../kinds.ts";
import { texts } from "../texts.ts";

interface ChoicesProps {
  /** The export; undefined until it is named. */
  readonly known: LiveList<ApiExport> | undefined;
  /** By the key of the claim. A claim that is not in it is rejected. */
  readonly answers: Readonly<Record<string, Answer>>;
  readonly onAnswers: (answers: Readonly<Record<string, Answer>>) => void;
  readonly error: string | undefined;
}

/** The claims of an export, to accept or reject each. */
export function ClaimChoices({ known, answers, onAnswers, error }: ChoicesProps) {
  const id = useId();
  const words = texts.claims;
  if (known === undefined) return null;
  const [found] = known.items;
  if (found === undefined) {
    if (known.state === "loading") return <p class="muted">{texts.loading}</p>;
    return <p class="hint">{known.error === undefined ? words.noExport : words.unread(known.error.message)}</p>;
  }
  const claims = found.spec?.permissionClaims ?? [];
  if (claims.length === 0) return <p class="hint">{words.none}</p>;
  return (
    <div class="claim-choices">
      <p class="hint" id={`${id}-hint`}>
        {words.choose}
      </p>
      {claims.map((claim) => {
        const key = keyOfClaim(claim);
        const answer = answers[key] ?? "Rejected";
        return (
          <fieldset class="choices" key={key} aria-describedby={`${id}-hint`}>
            <legend>
              {nameOfClaim(claim)} <span class="muted">{words.verbs(claim.verbs ?? [])}</span>
            </legend>
            {(["Accepted", "Rejected"] as const).map((one) => (
              <label class="choice" key={one}>
                <input
                  type="radio"
                  name={`${id}-${key}`}
                  checked={answer === one}
                  onChange={() => onAnswers({ ...answers, [key]: one })}
                />
                {one === "Accepted" ? words.accept : words.reject}
              </label>
            ))}
          </fieldset>
        );
      })}
      <p class="error" role="alert">
        {error}
      </p>
    </div>
  );
}
