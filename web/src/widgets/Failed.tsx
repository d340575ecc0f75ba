import type { Failure } from '../data/source';

// The question in readable form.
function asked(failure: Failure): string {
  try {
    return decodeURIComponent(failure.asked).replaceAll('\n', ', ').slice(0, 200);
  } catch {
    return failure.asked.slice(0, 200);
  }
}

export function Failed({ failure, again }: { failure: Failure; again: () => void }) {
  const text = [failure.message, failure.place, failure.hint].filter(Boolean).join('\n');
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{failure.message}</strong>
      </p>
      <p class="quiet">asked for: {asked(failure)}</p>
      {failure.place && (
        <p class="number" style={{ textAlign: 'left' }}>
          {failure.place}
        </p>
      )}
      {failure.hint && <p class="quiet">{failure.hint}</p>}
      <button onClick={again}>Try again</button>{' '}
      <button onClick={() => void navigator.clipboard?.writeText(`${failure.asked}\n${text}`)}>Copy details</button>
    </div>
  );
}
