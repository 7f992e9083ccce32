import { useMemo, useState } from "preact/hooks";
import { useMay } from "../../api/access.ts";
import { asStatusError, type StatusError } from "../../api/client.ts";
import { confirmDone } from "../../ui/announce.tsx";
import { type AnsweredClaim, type ApiBinding, BINDINGS, type Claim, keyOfClaim, nameOfClaim } from "../kinds.ts";
import { texts } from "../texts.ts";
import { type Answer, answerInBinding } from "./answer.ts";

interface ClaimsProps {
  readonly workspace: string;
  readonly name: string;
  readonly object: ApiBinding;
}

/** The claims of the export of a binding, each with its answer and the buttons to change that. */
export function BindingClaims({ workspace, name, object }: ClaimsProps) {
  const address = useMemo(() => ({ workspace, resource: BINDINGS, namespace: "", name }), [workspace, name]);
  const mayAnswer = useMay("update", address);
  const { spec, status } = object;
  const answered = new Map((spec?.permissionClaims ?? []).map((one) => [keyOfClaim(one), one]));
  const applied = new Set((status?.appliedPermissionClaims ?? []).map(keyOfClaim));
  const asked = status?.exportPermissionClaims ?? [];
  const all = new Map<string, Claim>([...answered, ...asked.map((one) => [keyOfClaim(one), one] as const)]);
  const askedKeys = new Set(asked.map(keyOfClaim));
  const words = texts.claims;
  return (
    <section aria-labelledby="binding-claims">
      <h3 id="binding-claims">{words.heading}</h3>
      {!mayAnswer && all.size > 0 && <p class="hint">{words.notAllowed}</p>}
      {all.size === 0 && <p class="muted">{words.none}</p>}
      <ul class="claims">
        {[...all].map(([key, claim]) => (
          <ClaimRow
            key={key}
            at={{ workspace, name }}
            claim={claim}
            answer={answered.get(key)}
            isApplied={applied.has(key)}
            isAsked={askedKeys.has(key)}
            mayAnswer={mayAnswer}
          />
        ))}
      </ul>
    </section>
  );
}

interface RowProps {
  readonly at: { readonly workspace: string; readonly name: string };
  readonly claim: Claim;
  readonly answer: AnsweredClaim | undefined;
  readonly isApplied: boolean;
  /** The export has the claim now. */
  readonly isAsked: boolean;
  readonly mayAnswer: boolean;
}

function ClaimRow({ at, claim, answer, isApplied, isAsked, mayAnswer }: RowProps) {
  const [error, setError] = useState<StatusError>();
  const [isBusy, setBusy] = useState(false);
  const words = texts.claims;
  const name = nameOfClaim(claim);
  const give = async (state: Answer) => {
    setBusy(true);
    setError(undefined);
    try {
      await answerInBinding(at, claim, state);
      confirmDone(words.done(name, state));
    } catch (cause) {
      setError(asStatusError(cause));
    } finally {
      setBusy(false);
    }
  };
  return (
    <li>
      <p class="row">
        <strong>{name}</strong>
        <span class="muted">{words.verbs(claim.verbs ?? [])}</span>
        <ClaimState answer={answer} />
        {isApplied && <span class="badge good">{words.applied}</span>}
        {!isAsked && <span class="badge warning">{words.notAsked}</span>}
        <button
          type="button"
          disabled={isBusy || !mayAnswer || answer?.state === "Accepted"}
          aria-label={words.acceptNamed(name)}
          onClick={() => void give("Accepted")}
        >
          {words.accept}
        </button>
        <button
          type="button"
          disabled={isBusy || !mayAnswer || answer?.state === "Rejected"}
          aria-label={words.rejectNamed(name)}
          onClick={() => void give("Rejected")}
        >
          {words.reject}
        </button>
      </p>
      <Selector answer={answer} />
      {error !== undefined && (
        <p class="error" role="alert">
          {error.message}
        </p>
      )}
    </li>
  );
}

function ClaimState({ answer }: { readonly answer: AnsweredClaim | undefined }) {
  const words = texts.claims;
  if (answer?.state === undefined) return <span class="badge warning">{words.open}</span>;
  const isAccepted = answer.state === "Accepted";
  return <span class={`badge ${isAccepted ? "good" : "failed"}`}>{isAccepted ? words.accepted : words.rejected}</span>;
}

/** For which objects the answer counts, if not for all. */
function Selector({ answer }: { readonly answer: AnsweredClaim | undefined }) {
  const { selector } = answer ?? {};
  if (selector === undefined || (selector as { matchAll?: boolean }).matchAll === true) return null;
  return (
    <p class="hint">
      {texts.claims.selected} <code>{JSON.stringify(selector)}</code>
    </p>
  );
}
