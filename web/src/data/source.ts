// Where the page gets its data: from the server that sent it, or from the report file that it is part of.

export class Failure extends Error {
  constructor(
    readonly asked: string,
    message: string,
    readonly place = '',
    readonly hint = '',
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | undefined>;

export interface Source {
  get<T>(path: string, query?: Query): Promise<T>;
  bytes(path: string, query?: Query): Promise<ArrayBuffer>;
  post<T>(path: string, body: string): Promise<T>;
  readonly live: boolean;
}

// Sorted, so that one question has one address.
export function addressOf(path: string, query: Query = {}): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return parts.length ? `${path}?${parts.join('&')}` : path;
}

export const keyName = 'fathom-key';

// The secret comes in the fragment of the address, which no request carries; from there it moves to the storage of
// this tab, so that the address can be shown and shared without it.
export function takeKey(): string {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('k');
  if (given) {
    sessionStorage.setItem(keyName, given);
    fragment.delete('k');
    history.replaceState(null, '', `#${fragment.toString()}`);
  }
  return sessionStorage.getItem(keyName) ?? '';
}

export class ServerSource implements Source {
  readonly live = true;
  private readonly answers = new Map<string, Promise<unknown>>();

  constructor(private readonly key: string) {}

  get<T>(path: string, query?: Query): Promise<T> {
    const address = addressOf(path, query);
    let answer = this.answers.get(address);
    if (!answer) {
      answer = this.ask(address);
      this.answers.set(address, answer);
      answer.catch(() => this.answers.delete(address));
      const oldest = this.answers.keys().next().value;
      if (this.answers.size > 200 && oldest !== undefined) this.answers.delete(oldest);
    }
    return answer as Promise<T>;
  }

  async bytes(path: string, query?: Query): Promise<ArrayBuffer> {
    return (await this.fetch(addressOf(path, query))).arrayBuffer();
  }

  async post<T>(path: string, body: string): Promise<T> {
    return (await this.fetch(path, body)).json() as Promise<T>;
  }

  private async ask(address: string): Promise<unknown> {
    return (await this.fetch(address)).json();
  }

  private async fetch(address: string, body?: string): Promise<Response> {
    let response: Response;
    const how = body === undefined ? {} : { method: 'POST', body };
    try {
      response = await fetch(`api/${address}`, { ...how, headers: this.key ? { 'X-Fathom-Key': this.key } : {} });
    } catch {
      throw new Failure(address, 'fathom view has ended; start it again and reload');
    }
    if (response.status === 403) {
      throw new Failure(address, 'this page has no key: open the address that fathom view printed');
    }
    if (response.ok) return response;
    const told = (await response.json().catch(() => ({}))) as { error?: string; place?: string; hint?: string };
    throw new Failure(address, told.error ?? response.statusText, told.place, told.hint);
  }
}
