// Finding an operation by its name, and trying one. Without it the pages are whole to read.
'use strict';
const find = document.querySelector('.find');
let known; // what can be found, once somebody looks

async function look() {
	known ??= fetch('/docs/search.json').then(answer => answer.json());
	const words = find.elements.find.value.toLowerCase().split(/\s+/).filter(Boolean);
	const found = words.length === 0 ? [] : (await known).filter(one => words.every(word => one.join(' ').toLowerCase().includes(word)));
	const list = find.querySelector('.found');
	list.replaceChildren(...found.slice(0, 12).map(([id, summary, method, , address]) => {
		const item = document.createElement('li'), link = document.createElement('a'), verb = document.createElement('span');
		link.href = address;
		verb.className = 'method ' + method;
		verb.textContent = method;
		link.append(verb, method ? summary : id);
		item.append(link);
		return item;
	}));
	find.querySelector('[role=status]').textContent = words.length === 0 ? '' : found.length === 0 ? 'Nothing matches.' : found.length === 1 ? '1 result' : found.length + ' results';
}
find.hidden = false;
find.addEventListener('input', () => look().catch(() => { known = undefined; }));
find.addEventListener('submit', event => {
	event.preventDefault();
	find.querySelector('.found a')?.click();
});

const sure = document.querySelector('.sure');
let token = ''; // nowhere else

// ask resolves to whether the person wants the request to be sent.
function ask(what) {
	return new Promise(resolve => {
		sure.querySelector('.what').textContent = what;
		sure.returnValue = '';
		sure.addEventListener('close', () => resolve(sure.returnValue === 'send'), { once: true });
		sure.showModal();
	});
}

// request returns what a form asks for.
function request(form) {
	let address = form.dataset.path;
	for (const field of form.querySelectorAll('[data-id]')) address = address.replace('{' + field.dataset.id + '}', encodeURIComponent(field.value));
	const query = form.querySelector('[data-query]').value.replace(/^\?/, '');
	const options = { method: form.dataset.method, headers: {}, credentials: 'omit', redirect: 'error' };
	if (form.querySelector('[data-token]')) options.headers.Authorization = 'Bearer ' + token;
	if (form.dataset.takesKey === 'true') options.headers['Idempotency-Key'] = Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('');
	const body = form.querySelector('[data-body]');
	if (body) {
		options.body = body.value;
		options.headers['Content-Type'] = 'application/json';
	}
	return [address + (query ? '?' + query : ''), options];
}

async function send(form) {
	const [address, options] = request(form), status = form.querySelector('.status'), got = form.querySelector('.got');
	if ((form.dataset.writes === 'true' || sure.dataset.develops !== 'true') && !await ask(options.method + ' ' + address)) return;
	form.setAttribute('aria-busy', 'true');
	got.hidden = true;
	try {
		const answer = await fetch(address, options);
		let text = await answer.text();
		try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* it is shown as it is */ }
		status.textContent = answer.status + ' ' + answer.statusText;
		got.textContent = text;
		got.hidden = false;
	} catch (error) {
		status.textContent = 'Nothing was answered: ' + error.message;
	}
	form.removeAttribute('aria-busy');
}

for (const details of document.querySelectorAll('.try')) {
	details.hidden = false;
	details.addEventListener('submit', event => {
		event.preventDefault();
		send(event.target);
	});
	details.addEventListener('input', event => {
		if (!event.target.matches('[data-token]')) return;
		token = event.target.value.trim();
		for (const field of document.querySelectorAll('[data-token]')) if (field !== event.target) field.value = event.target.value;
	});
}
