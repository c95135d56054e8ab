// What stands in for Stripe.js: the part of its interface that takes a card, with frames and calls to the same hosts.
window.Stripe = function (key) {
	var typed = {}, heard = {};
	addEventListener('message', function (event) {
		if (event.origin !== 'https://js.stripe.com') { return; }
		typed = event.data;
		if (heard.change) { heard.change({}); }
	});
	function create(type) {
		if (type !== 'card') { throw new Error('There is no element ' + type); }
		return {
			mount: function (place) {
				var frame = document.createElement('iframe');
				frame.src = 'https://js.stripe.com/card.html';
				frame.title = 'Secure card payment input frame';
				['width:100%', 'height:1.2em', 'border:0'].forEach(function (rule) {
					frame.style.setProperty(rule.split(':')[0], rule.split(':')[1], 'important');
				});
				frame.onload = function () { frame.dataset.ready = 'true'; };
				place.appendChild(frame);
			},
			on: function (name, tell) { heard[name] = tell; }
		};
	}
	return {
		elements: function () { return {create: create}; },
		createPaymentMethod: function (asked) {
			var body = new URLSearchParams({type: asked.type, 'card[number]': typed.number || ''});
			for (var name in asked.billing_details) {
				if (asked.billing_details[name]) { body.set('billing_details[' + name + ']', asked.billing_details[name]); }
			}
			return fetch('https://api.stripe.com/v1/payment_methods', {method: 'POST', headers: {Authorization: 'Bearer ' + key}, body: body})
				.then(function (answer) { return answer.json(); })
				.then(function (said) { return said.error ? {error: said.error} : {paymentMethod: said}; });
		}
	};
};
